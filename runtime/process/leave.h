// Ends the process at once, from any thread, for a cause that no caller can handle: a signal, a file that became
// shorter under its mapping, memory that a thread could not get.
#pragma once

#include <functional>

#include "absl/status/status.h"

namespace sgd::process {

// Called with the cause by the first thread that leaves: tells the other ranks and the user, cleans up and ends the
// process. Set for as long as the other ranks are known; PrintAndExit by default.
class LeaveAction {
 public:
  explicit LeaveAction(std::function<void(const absl::Status& cause)> action);
  // Restores what was set before.
  ~LeaveAction();
  LeaveAction(const LeaveAction&) = delete;
  LeaveAction& operator=(const LeaveAction&) = delete;

 private:
  std::function<void(const absl::Status& cause)> action_;
  const std::function<void(const absl::Status& cause)>* before_;
};

// Runs the action, then PrintAndExit if the action returns, throws or calls this again. Threads that leave meanwhile
// wait for the end.
[[noreturn]] void LeaveAtOnce(const absl::Status& cause);

// ResourceExhausted for a process that ran out of memory, with advice.
absl::Status OutOfMemory();

// From now on an uncaught exception ends the process: std::bad_alloc and std::system_error by LeaveAtOnce, others by
// abort.
void LeaveWhenOutOfMemory();

// Ends this process with the cause as one line on standard error and exit code 1. Allocates nothing.
[[noreturn]] void PrintAndExit(const absl::Status& cause);

// The name in front of that line; "sgdrun" by default. A literal, set before threads start.
void SetToolName(const char* name);

}  // namespace sgd::process
