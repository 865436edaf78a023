// Runs a rank's main function on every rank of a job, for a program that is nothing but a rank or their launcher.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/meeting.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/process/process_policy.h"

namespace sgd::process {

// As a launcher: forks the ranks (so call it before any thread exists), binds them to disjoint cores, waits for all,
// and returns the first error of the job with its rank. As one rank, or of a job of one rank: launch::RunRank. In both
// cases, when a peer dies this process ends within 100 ms, if need be by the watcher printing the cause as one line to
// standard error and leaving with exit code 1. Interrupted() when all ranks have stopped as they were asked to.
// `meeting`, if it has begun, is that of this rank. `policy` is also that of `options`.
absl::Status Launch(const launch::RankEnvironment& environment, launch::LaunchOptions options, ProcessPolicy& policy,
                    const launch::RankMain& rank_main, std::unique_ptr<launch::Meeting> meeting = nullptr);

}  // namespace sgd::process
