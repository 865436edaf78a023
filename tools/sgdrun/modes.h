// What a rank does once it is prepared: one run, training, or a benchmark. All ranks call the same
// one; the first prints.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "tools/sgdrun/session.h"

namespace sgd::sgdrun {

// Runs the program once, writes --outputs, prints scalar outputs.
absl::Status RunOnce(Session& session);

// Runs --steps steps with feeds, carry, evaluation, checkpoints and logs.
absl::Status Train(Session& session);

// Times steps and prints one JSON line. `start_nanoseconds` is when the first process of the job
// started, on the monotonic clock.
absl::Status Bench(Session& session, int64_t start_nanoseconds);

// Writes out what was printed; an error when somebody no longer reads it or the disk is full.
absl::Status FlushResults();

// The monotonic clock, shared by all processes of this host.
int64_t MonotonicNanoseconds();

}  // namespace sgd::sgdrun
