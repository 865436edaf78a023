// Turns the exceptions of std::thread into a Status.
#include "runtime/thread/spawn_thread.h"

#include <signal.h>

#include <new>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sgd {
namespace {

// Blocks signals in this thread and in threads that it starts meanwhile. Faults stay unblocked: the kernel kills a
// process at a blocked one without asking its handler.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t signals;
    sigfillset(&signals);
    for (int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&signals, fault);
    sigdelset(&signals, StackSignal());
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

absl::Status NoThread(absl::string_view purpose, absl::string_view cause) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "cannot start a thread for ", purpose, ": ", cause,
      "; expected room for one more thread and its stack; raise the limit on processes (ulimit -u, the container's "
      "pids limit) or on memory (ulimit -v), or start fewer ranks or threads"));
}

}  // namespace

absl::StatusOr<std::thread> SpawnThread(absl::string_view purpose, std::function<void()> body) {
  const BlockedSignals blocked;
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    return NoThread(purpose, error.code().message());
  } catch (const std::bad_alloc&) {
    return NoThread(purpose, "out of memory");
  }
}

}  // namespace sgd
