#include "runtime/process/launch.h"

#include <utility>

#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/launch/tcp_launch.h"
#include "runtime/process/supervisor.h"

namespace sgd::process {
namespace {

absl::Status SuperviseRanks(const launch::RankEnvironment& environment, const launch::LaunchOptions& options,
                            ProcessPolicy& policy, const launch::RankMain& rank_main) {
  SupervisorOptions supervisor{.ranks = environment.StartedHere(),
                               .first_rank = environment.rank,
                               .window_bytes = options.window_bytes,
                               .deadline = options.deadline,
                               .avoided_cores = options.avoided_cores,
                               .stops_between_steps = policy.options().stops_between_steps,
                               .hang_up = policy.options().hang_up,
                               .failed = policy.options().failed};
  if (environment.nodes > 1 && environment.master.has_value()) {
    supervisor.report_death = [&](uint32_t rank, const absl::Status& cause) {
      return launch::ReportDeathOverTcp(environment, rank, options.secret, cause);
    };
  }
  return Supervise(supervisor, [&](uint32_t local_rank, const std::shared_ptr<comm::SharedMemorySegment>& segment) {
    policy.set_supervised();  // of this process alone
    if (environment.master.has_value()) return launch::RunOverTcp(environment, local_rank, segment, options, rank_main);
    return launch::RunSupervised(segment, local_rank, options, rank_main);
  });
}

}  // namespace

absl::Status Launch(const launch::RankEnvironment& environment, launch::LaunchOptions options, ProcessPolicy& policy,
                    const launch::RankMain& rank_main, std::unique_ptr<launch::Meeting> meeting) {
  options.policy = &policy;
  if (!environment.is_launcher || (environment.size == 1 && !policy.options().failed))
    return launch::RunRank(environment, options, rank_main, std::move(meeting));
  const absl::Status status = SuperviseRanks(environment, options, policy, rank_main);
  const bool may_go_on = policy.options().failed != nullptr;
  if (!launch::EndsWell(status) && policy.options().clean_up && !may_go_on) policy.options().clean_up();
  return status;
}

}  // namespace sgd::process
