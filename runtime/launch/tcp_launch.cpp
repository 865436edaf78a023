// One rank of a job on several hosts, from its meeting to its end.
#include "runtime/launch/tcp_launch.h"

#include <utility>

#include "runtime/comm/tcp/tcp_meeting.h"
#include "runtime/launch/own_cores.h"
#include "runtime/launch/tcp_rank.h"

namespace sgd::launch {
namespace {

constexpr absl::Duration kReportTimeout = absl::Seconds(1);

}  // namespace

bool ReportDeathOverTcp(const RankEnvironment& environment, uint32_t rank, const std::string& secret,
                        const absl::Status& cause) {
  return comm::ReportDeath({.place = *environment.master,
                            .rank = rank,
                            .size = environment.size,
                            .secret = secret,
                            .timeout = kReportTimeout,
                            .nodes = environment.ToldNodes()},
                           cause);
}

absl::Status RunOverTcp(const RankEnvironment& environment, uint32_t local_rank,
                        const std::shared_ptr<comm::SharedMemorySegment>& segment, const LaunchOptions& options,
                        const RankMain& rank_main, std::unique_ptr<Meeting> meeting) {
  absl::StatusOr<std::unique_ptr<TcpRank>> rank = TcpRank::Meet(
      {.environment = environment, .local_rank = local_rank, .segment = segment, .meeting = std::move(meeting)},
      options);
  if (!rank.ok()) return rank.status();
  const KeptCores kept;
  absl::Status status = (*rank)->Prepare();
  if (status.ok()) status = rank_main((*rank)->context());
  return (*rank)->End(status);
}

}  // namespace sgd::launch
