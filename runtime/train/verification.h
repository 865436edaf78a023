// Data of a job whose first steps are compared with those of one rank.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/checkpoint/shared_snapshot.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/train/job.h"

namespace sgd::train {

struct Verification {
  std::unique_ptr<Job> one_rank;  // the same job by the artifact's plan for one rank
  // Where ranks put inputs and results of a step together: see VerifiedTensors. Where not all ranks share it, it is
  // null for those that do not share it with rank 0.
  std::unique_ptr<checkpoint::SharedSnapshot> shared;
  bool is_gathered = false;  // whether rank 0 puts there what the others send it
};

// Prepares the comparison that the job's options ask for, before its ranks are started; nothing without --verify.
// FailedPrecondition or InvalidArgument where the artifact has no plan for one rank, or a plan cannot be compared;
// ResourceExhausted without memory.
absl::Status PrepareVerification(const launch::RankEnvironment& environment, Job& job);

// Prepares the job for one rank anew, of a job that goes on from another checkpoint than when it was prepared.
absl::Status PrepareOneRankAgain(const std::string& checkpoint, Verification& verification);

}  // namespace sgd::train
