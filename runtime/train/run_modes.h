// Runs a job on one rank: prepare, then one run or training. All ranks call the same.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "runtime/launch/launch.h"
#include "runtime/trace/start_times.h"
#include "runtime/train/job.h"
#include "runtime/train/session.h"
#include "runtime/train/train_observer.h"

namespace sgd::train {

// Prepares this rank and calls `body`, whose outcome it returns. When that is an error the job ends with it, and what
// the device may never end is left to the end of this process.
absl::Status WithSession(const Job& job, const launch::RankContext& rank, const SessionHooks& hooks,
                         trace::StartTimes& start, const std::function<absl::Status(Session&)>& body);

// Runs the program once and writes --outputs, if they are asked for. Scalar outputs can be read from the session
// afterwards.
absl::Status RunOnce(Session& session);

// Runs --steps steps with feeds, carry, evaluation and checkpoints. `observer` is null on ranks that tell nobody.
// Errors as of TrainLoop::Run.
absl::Status Train(Session& session, TrainObserver* observer);

}  // namespace sgd::train
