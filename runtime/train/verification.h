// What a job needs whose first steps are compared with those of one rank.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "runtime/checkpoint/shared_snapshot.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/train/job.h"

namespace sgd::train {

struct Verification {
  std::unique_ptr<Job> one_rank;  // the same job by the artifact's plan for one rank
  // Where ranks put inputs and results of a step together: see VerifiedTensors.
  std::unique_ptr<checkpoint::SharedSnapshot> shared;
};

// Prepares the comparison that the job's options ask for, before its ranks are started; nothing without --verify.
// FailedPrecondition or InvalidArgument where the artifact has no plan for one rank, or a plan cannot be compared;
// ResourceExhausted without memory.
absl::Status PrepareVerification(const launch::RankEnvironment& environment, Job& job);

}  // namespace sgd::train
