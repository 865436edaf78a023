// Starts threads; the only place that constructs a std::thread, since its constructor throws where limits are reached.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sgd {

// By which a program asks one of its threads for its stack, where it has a handler for that.
inline int StackSignal() { return SIGRTMIN + 4; }

// Starts a thread that runs `body`. It blocks all signals but StackSignal() and those of its own faults (SIGBUS,
// SIGSEGV, ...): a signal of the process belongs to the thread that waits for it. `purpose` completes "cannot start a
// thread for ...". ResourceExhausted if a limit on processes or memory is reached; `body` has not run then. The caller
// joins the thread.
absl::StatusOr<std::thread> SpawnThread(absl::string_view purpose, std::function<void()> body);

}  // namespace sgd
