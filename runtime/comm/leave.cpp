// One action at a time, kept where signal handlers and the terminate handler find it.
#include "runtime/comm/leave.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

using Action = std::function<void(const absl::Status& cause)>;

std::atomic<const Action*> current_action = nullptr;
std::atomic<bool> is_leaving = false;
std::terminate_handler terminate_before = nullptr;
// For saying that there is none.
constexpr size_t kReserve = 256 << 10;
std::atomic<char*> reserve = nullptr;

[[noreturn]] void OnTerminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    delete[] reserve.exchange(nullptr);
    LeaveAtOnce(absl::ResourceExhaustedError(
        "not enough memory for this run; start fewer ranks on this host, or give them more (ulimit -v, cgroups)"));
  } catch (...) {
  }
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

}  // namespace

LeaveAction::LeaveAction(Action action) : action_(std::move(action)), before_(current_action.exchange(&action_)) {}

LeaveAction::~LeaveAction() {
  current_action.store(before_);
  while (is_leaving.load()) pause();  // it may be this action that runs
}

void LeaveAtOnce(const absl::Status& cause) {
  while (is_leaving.exchange(true)) pause();
  if (const Action* action = current_action.load(); action != nullptr) (*action)(cause);
  PrintAndExit(cause);
}

void LeaveWhenOutOfMemory() {
  reserve.store(new (std::nothrow) char[kReserve]);
  terminate_before = std::set_terminate(OnTerminate);
}

void PrintAndExit(const absl::Status& cause) {
  const std::string line = absl::StrCat("sgdrun: ", cause.message(), "\n");
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(1);
  _exit(1);
}

}  // namespace sgd::comm
