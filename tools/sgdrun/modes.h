// What a rank does once it is prepared: one run, training, or a benchmark. All ranks call the same
// one; the first prints.
#pragma once

#include "absl/status/status.h"
#include "tools/sgdrun/session.h"
#include "tools/sgdrun/start_times.h"

namespace sgd::sgdrun {

// Runs the program once, writes --outputs, prints scalar outputs.
absl::Status RunOnce(Session& session);

// Runs --steps steps with feeds, carry, evaluation, checkpoints and logs.
absl::Status Train(Session& session);

// Times steps and prints one JSON line. `start` knows the phases before the first step.
absl::Status Bench(Session& session, StartTimes start);

// Writes out what was printed; an error when somebody no longer reads it or the disk is full.
absl::Status FlushResults();

}  // namespace sgd::sgdrun
