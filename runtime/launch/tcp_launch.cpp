// Meeting, channel, communicator, the rank's main function; rank 0 stays until all are done, since they hear of each
// other through it.
#include "runtime/launch/tcp_launch.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "runtime/comm/control_channel.h"
#include "runtime/comm/leave.h"
#include "runtime/comm/tcp_control.h"
#include "runtime/comm/tcp_meeting.h"
#include "runtime/launch/cpu_quota.h"
#include "runtime/launch/local_ranks.h"
#include "runtime/launch/own_cores.h"
#include "runtime/launch/signal_thread.h"

namespace sgd::launch {
namespace {

using comm::ControlChannel;
using comm::SharedMemorySegment;

constexpr absl::Duration kReportTimeout = absl::Seconds(1);

comm::TcpMeetingOptions MeetingOf(const RankEnvironment& environment, uint32_t rank, const std::string& secret,
                                  absl::Duration timeout) {
  return {.place = *environment.master,
          .rank = rank,
          .size = environment.size,
          .secret = secret,
          .timeout = timeout,
          .note = NoteOnStandardError};
}

absl::StatusOr<std::vector<comm::ControlLink>> MeetOthers(const RankEnvironment& environment, uint32_t rank,
                                                          const LaunchOptions& options,
                                                          std::unique_ptr<Meeting> meeting) {
  if (meeting != nullptr) return meeting->WaitOverTcp();
  return comm::MeetOverTcp(MeetingOf(environment, rank, options.secret, options.deadline));
}

absl::StatusOr<std::unique_ptr<ControlChannel>> Meet(const RankEnvironment& environment, uint32_t rank,
                                                     const std::shared_ptr<SharedMemorySegment>& segment,
                                                     const LaunchOptions& options, std::unique_ptr<Meeting> meeting) {
  absl::StatusOr<std::vector<comm::ControlLink>> links = MeetOthers(environment, rank, options, std::move(meeting));
  if (!links.ok()) return links.status();
  if (segment != nullptr) segment->flag(rank - environment.rank).state.store(comm::RankState::kJoined);
  comm::ControlChannelOptions channel;
  channel.rank = rank;
  channel.size = environment.size;
  if (segment != nullptr) {
    // The supervisor says what has happened, and ends the ranks that do not end themselves.
    channel.on_abort = [segment](uint32_t at_fault, const absl::Status& cause) { segment->Abort(at_fault, cause); };
    channel.give_up = [](const absl::Status&) { _exit(1); };
  } else {
    channel.give_up = [&options](const absl::Status& cause) {
      if (options.clean_up) options.clean_up();
      comm::PrintAndExit(cause);
    };
  }
  return ControlChannel::Start(*std::move(links), std::move(channel));
}

absl::StatusOr<RankContext> MakeContext(comm::TcpControl& control, std::optional<uint32_t> told_local_rank,
                                        const LaunchOptions& options) {
  absl::StatusOr<LocalRanks> local = FindLocalRanks(control, CoresOfQuota(CpuQuota()), options.deadline);
  if (!local.ok()) return local.status();
  RankContext context;
  context.rank = control.rank();
  context.size = control.size();
  context.local_rank = told_local_rank.value_or(local->own);
  context.local_size = static_cast<uint32_t>(local->ranks.size());
  context.threads = options.threads != 0 ? options.threads : std::max(1u, local->cores / context.local_size);
  context.control = &control;
  context.cores = TakeOwnCores(local->masks, local->own);
  context.shares_cores =
      context.cores.size() < context.threads || local->cores < uint64_t{context.threads} * context.local_size;
  if (context.cores.size() != context.threads) context.cores.clear();
  return context;
}

}  // namespace

bool ReportDeathOverTcp(const RankEnvironment& environment, uint32_t rank, const std::string& secret,
                        const absl::Status& cause) {
  return comm::ReportDeath(MeetingOf(environment, rank, secret, kReportTimeout), cause);
}

absl::Status RunOverTcp(const RankEnvironment& environment, uint32_t local_rank,
                        const std::shared_ptr<SharedMemorySegment>& segment, const LaunchOptions& options,
                        const RankMain& rank_main, std::unique_ptr<Meeting> meeting) {
  if (options.window_bytes > 0) {
    const absl::Status status = absl::UnimplementedError(
        "ranks on several hosts need GPUs (sgdc --target=cuda:...): tensors of CPUs go through the memory of one host");
    if (meeting != nullptr) meeting->Fail(status);
    return status;
  }
  absl::StatusOr<std::unique_ptr<ControlChannel>> channel =
      Meet(environment, environment.rank + local_rank, segment, options, std::move(meeting));
  if (!channel.ok()) return channel.status();
  ControlChannel* const borrowed = channel->get();
  const comm::LeaveAction leave([&](const absl::Status& cause) {
    borrowed->Abort(cause);
    // The channel's thread tells the others and ends this process.
    absl::SleepFor(absl::Seconds(1));
  });
  auto signals = TakeSignals(options.stops_between_steps, [&](int signal) { borrowed->RequestStop(signal); });
  if (!signals.ok()) return signals.status();
  comm::TcpControl control(*std::move(channel));
  const std::optional<uint32_t> told =
      segment != nullptr ? std::optional<uint32_t>(local_rank) : environment.local_rank;
  absl::StatusOr<RankContext> context = MakeContext(control, told, options);
  absl::Status status = context.ok() ? rank_main(*context) : context.status();
  if (EndsWell(status)) {
    control.Finish();
    if (absl::Status others = borrowed->WaitForOthers(options.deadline); !others.ok()) status = others;
  } else {
    control.Abort(status);
  }
  if (EndsWell(status) && segment != nullptr) segment->flag(local_rank).state.store(comm::RankState::kDone);
  return status;
}

}  // namespace sgd::launch
