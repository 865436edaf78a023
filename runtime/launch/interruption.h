// How a user's request to end travels: the outcome of ranks that have stopped between two steps, and the text for
// signals.
#pragma once

#include <signal.h>

#include <string>

#include "absl/status/status.h"

namespace sgd::launch {

// "Resume me", of sysexits.h's temporary failures: what processes end with that have stopped as they were asked to.
inline constexpr int kExitInterrupted = 75;

// Ranks that stop for this signal give way to others that go on, rather than end the run: as many as the file of
// --resize says, when the user sends it to the launcher.
inline constexpr int kGiveWaySignal = SIGHUP;

// Neither a success nor an error: all ranks have stopped after the same step, and the user has been notified.
absl::Status Interrupted();
bool IsInterrupted(const absl::Status& status);

// Whether a rank's outcome lets it end in peace with the others.
inline bool EndsWell(const absl::Status& status) { return status.ok() || IsInterrupted(status); }

// "signal 15 (Terminated)".
std::string SignalText(int signal);

}  // namespace sgd::launch
