// Starts threads; the only place that constructs a std::thread, since its constructor throws where limits are reached.
#pragma once

#include <functional>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sgd {

// Starts a thread that runs `body`. It blocks all signals but those of its own faults (SIGBUS, SIGSEGV, ...): a signal
// of the process belongs to the thread that waits for it. `purpose` completes "cannot start a thread for ...".
// ResourceExhausted if a limit on processes or memory is reached; `body` has not run then. The caller joins the thread.
absl::StatusOr<std::thread> SpawnThread(absl::string_view purpose, std::function<void()> body);

}  // namespace sgd
