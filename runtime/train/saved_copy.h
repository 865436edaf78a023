// The memory from which checkpoints are written beside steps, and the process that writes each part.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/train/job.h"

namespace sgd::train {

// The processes that share memory write a file together: the ranks of a launcher of ours on one host, or a rank that
// another launcher has started.
SaveGroup SaveGroupOf(const launch::RankEnvironment& environment);

// Gives the job, whose ranks are not started yet, the memory that its options ask for. ResourceExhausted without
// memory.
absl::Status MakeSavedCopy(const launch::RankEnvironment& environment, Job& job);

// All ranks call it before the first step of a job of several groups: whether those that write see the folder in which
// rank 0 completes checkpoints. FailedPrecondition, equal on all ranks, with the first rank that does not.
absl::Status CheckFolderIsShared(const std::string& directory, const SaveGroup& group, comm::Control& control,
                                 absl::Duration deadline);

}  // namespace sgd::train
