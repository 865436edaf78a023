// Runs a prepared rank, and prints the first rank's results. All ranks call the same mode.
#pragma once

#include "absl/status/status.h"
#include "runtime/trace/start_times.h"
#include "runtime/train/session.h"
#include "tools/sgdrun/options.h"

namespace sgd::sgdrun {

// Runs the program once, prints scalar outputs.
absl::Status RunAndPrint(train::Session& session);

// Trains; prints progress and writes --log-json.
absl::Status TrainAndPrint(const Options& options, train::Session& session);

// Times steps and prints one JSON line; writes --profile and --trace. `start` knows the phases before the first step.
absl::Status BenchAndPrint(const Options& options, train::Session& session, trace::StartTimes start);

// Writes out what was printed; an error when the disk is full. A reader of results that has what it wants may go.
absl::Status FlushResults();
// The same for the lines of a training, which must not go on unseen: an error also when somebody no longer reads them.
absl::Status FlushProgress();

}  // namespace sgd::sgdrun
