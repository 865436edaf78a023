// One action at a time, kept where signal handlers and the terminate handler find it.
#include "runtime/process/leave.h"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

namespace sgd::process {
namespace {

using Action = std::function<void(const absl::Status& cause)>;

std::atomic<const Action*> current_action = nullptr;
std::atomic<pid_t> leaving_thread = 0;  // 0: none
std::terminate_handler terminate_before = nullptr;
const char* tool_name = "sgdrun";
// For saying that there is none.
constexpr size_t kReserve = 256 << 10;
std::atomic<char*> reserve = nullptr;

[[noreturn]] void OnTerminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    delete[] reserve.exchange(nullptr);
    LeaveAtOnce(OutOfMemory());
  } catch (const std::system_error& error) {
    LeaveAtOnce(absl::ResourceExhaustedError(error.what()));
  } catch (...) {
  }
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

}  // namespace

LeaveAction::LeaveAction(Action action) : action_(std::move(action)), before_(current_action.exchange(&action_)) {}

LeaveAction::~LeaveAction() {
  current_action.store(before_);
  while (leaving_thread.load() != 0) pause();  // it may be this action that runs
}

void LeaveAtOnce(const absl::Status& cause) {
  const pid_t self = gettid();
  pid_t leaving = 0;
  while (!leaving_thread.compare_exchange_strong(leaving, self)) {
    // The action itself failed, for instance by a signal.
    if (leaving == self) PrintAndExit(cause);
    pause();
    leaving = 0;
  }
  try {
    if (const Action* action = current_action.load(); action != nullptr) (*action)(cause);
  } catch (...) {
    // The first cause says more than the action's.
  }
  PrintAndExit(cause);
}

absl::Status OutOfMemory() {
  return absl::ResourceExhaustedError(
      "not enough memory for this run; start fewer ranks on this host, or give them more (ulimit -v, cgroups)");
}

void LeaveWhenOutOfMemory() {
  reserve.store(new (std::nothrow) char[kReserve]);
  terminate_before = std::set_terminate(OnTerminate);
}

void SetToolName(const char* name) { tool_name = name; }

void PrintAndExit(const absl::Status& cause) {
  const auto part = [](std::string_view text) { return iovec{const_cast<char*>(text.data()), text.size()}; };
  const iovec parts[] = {part(tool_name), part(": "), part({cause.message().data(), cause.message().size()}),
                         part("\n")};
  if (writev(STDERR_FILENO, parts, std::size(parts)) < 0) _exit(1);
  _exit(1);
}

}  // namespace sgd::process
