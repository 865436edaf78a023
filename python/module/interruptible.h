// Calls that take long: they run without the interpreter's lock, and Ctrl-C ends them.
#pragma once

#include <functional>

#include "absl/status/status.h"

namespace sgd::python {

// Of the module's import, on any thread: remembers which thread handles signals.
void RememberMainThread();

// Runs `body` without the interpreter's lock and returns once it has ended. On the main thread `body` runs on a thread
// of its own while this one runs Python's signal handlers, ten times a second: each time that one raises an exception,
// calls `interrupt`, which makes `body` end soon, with the number of times; throws the first of these exceptions once
// `body` has ended. `tick`, unless it is null, is called likewise, with the lock, and once more at the end; what it
// throws counts as an exception of a handler. ResourceExhausted without a thread.
absl::Status RunInterruptibly(const std::function<void()>& body, const std::function<void(int times)>& interrupt,
                              const std::function<void()>& tick = nullptr);

// The same for a `body` that nothing can end: after an exception it goes on without this thread, with what it shares
// by std::shared_ptr.
absl::Status RunAbandonably(std::function<void()> body);

}  // namespace sgd::python
