// Meeting, channel, communicator, the rank's main function; rank 0 stays until all are done, since they hear of each
// other through it.
#include "runtime/launch/tcp_launch.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/placement.h"
#include "runtime/comm/hosts/transport.h"
#include "runtime/comm/hosts/two_level_communicator.h"
#include "runtime/comm/one_host/shared_memory_communicator.h"
#include "runtime/comm/tcp/control_channel.h"
#include "runtime/comm/tcp/tcp_control.h"
#include "runtime/comm/tcp/tcp_meeting.h"
#include "runtime/launch/comm_thread.h"
#include "runtime/launch/cpu_quota.h"
#include "runtime/launch/host_memory.h"
#include "runtime/launch/local_ranks.h"
#include "runtime/launch/own_cores.h"

namespace sgd::launch {
namespace {

using comm::ControlChannel;
using comm::SharedMemorySegment;

constexpr absl::Duration kReportTimeout = absl::Seconds(1);

class ChannelJob : public JobHandle {
 public:
  explicit ChannelJob(ControlChannel& channel) : channel_(channel) {}

  void Abort(const absl::Status& cause) override { channel_.Abort(cause); }
  absl::Status MessageOf(const absl::Status& cause) override {
    const absl::Status of_job = channel_.abort_cause();
    return of_job.ok() ? cause : of_job;
  }
  void RequestStop(int signal) override {
    if (!channel_.is_state_kept()) channel_.RequestStop(signal);
  }
  bool is_state_kept() const override { return channel_.is_state_kept(); }

 private:
  ControlChannel& channel_;
};

comm::TcpMeetingOptions MeetingOf(const RankEnvironment& environment, uint32_t rank, const std::string& secret,
                                  absl::Duration timeout, std::function<void(const std::string&)> note) {
  return {.place = *environment.master,
          .rank = rank,
          .size = environment.size,
          .secret = secret,
          .timeout = timeout,
          .nodes = environment.ToldNodes(),
          .note = std::move(note)};
}

absl::StatusOr<std::vector<comm::ControlLink>> MeetOthers(const RankEnvironment& environment, uint32_t rank,
                                                          const LaunchOptions& options,
                                                          std::unique_ptr<Meeting> meeting) {
  if (meeting != nullptr) return meeting->WaitOverTcp();
  std::function<void(const std::string&)> note;
  // One rank of a host says enough.
  if (rank == environment.rank) note = NotesTo(*options.policy);
  return comm::MeetOverTcp(MeetingOf(environment, rank, options.secret, options.deadline, std::move(note)));
}

absl::StatusOr<std::unique_ptr<ControlChannel>> Meet(const RankEnvironment& environment, uint32_t rank,
                                                     const std::shared_ptr<SharedMemorySegment>& segment,
                                                     HostMemory& memory, const LaunchOptions& options,
                                                     std::unique_ptr<Meeting> meeting) {
  absl::StatusOr<std::vector<comm::ControlLink>> links = MeetOthers(environment, rank, options, std::move(meeting));
  if (!links.ok()) return links.status();
  // Whoever uses its windows joins it otherwise.
  if (segment != nullptr && options.window_bytes == 0)
    segment->flag(rank - environment.rank).state.store(comm::RankState::kJoined);
  comm::ControlChannelOptions channel;
  channel.rank = rank;
  channel.size = environment.size;
  if (segment != nullptr) {
    // The supervisor says what has happened, and ends the ranks that do not end themselves.
    channel.on_abort = [segment](uint32_t at_fault, const absl::Status& cause) { segment->Abort(at_fault, cause); };
    channel.on_state_kept = [segment] { segment->MarkStateKept(); };
    channel.on_step = [segment, local = rank - environment.rank](uint64_t begun) {
      segment->flag(local).begun.store(begun);
    };
  } else {
    channel.on_abort = [&memory](uint32_t at_fault, const absl::Status& cause) { memory.Abort(at_fault, cause); };
  }
  channel.give_up = [policy = options.policy](const absl::Status& cause) { policy->GiveUp(cause); };
  channel.where = [policy = options.policy] { return policy->Where(); };
  return ControlChannel::Start(*std::move(links), std::move(channel));
}

RankContext MakeContext(comm::TcpControl& control, const LocalRanks& local, std::optional<uint32_t> told_local_rank,
                        const LaunchOptions& options, bool* has_spare_core) {
  RankContext context;
  context.rank = control.rank();
  context.size = control.size();
  context.local_rank = told_local_rank.value_or(local.own);
  context.local_size = static_cast<uint32_t>(local.ranks.size());
  context.threads = options.threads != 0 ? options.threads : std::max(1u, local.cores / context.local_size);
  context.control = &control;
  context.policy = options.policy;
  context.cores = TakeOwnCores(local.masks, local.own);
  context.shares_cores =
      context.cores.size() < context.threads || local.cores < uint64_t{context.threads} * context.local_size;
  *has_spare_core =
      context.cores.size() > context.threads && local.cores >= (uint64_t{context.threads} + 1) * context.local_size;
  if (context.cores.size() != context.threads) context.cores.clear();
  return context;
}

absl::StatusOr<std::unique_ptr<comm::TwoLevelCommunicator>> ConnectHosts(comm::Control& control, const HostRanks& host,
                                                                         const std::vector<std::string>& interfaces,
                                                                         const LaunchOptions& options) {
  absl::StatusOr<std::unique_ptr<comm::SharedMemoryCommunicator>> local = comm::SharedMemoryCommunicator::Connect(
      host.segment, host.own, options.deadline, CoresOfQuota(CpuQuota()), host.ranks);
  if (!local.ok()) return local.status();
  absl::StatusOr<comm::Placement> placement = comm::AgreeOnPlacement(control, host.key, options.deadline);
  if (!placement.ok()) return placement.status();
  std::unique_ptr<comm::Transport> transport;
  if (placement->hosts() > 1) {
    absl::StatusOr<const comm::TransportPlugin*> plugin = comm::OpenTransportPlugin();
    if (!plugin.ok()) return plugin.status();
    absl::StatusOr<std::unique_ptr<comm::Transport>> opened =
        (*plugin)->Open({.net_devices = options.net_devices, .interfaces = interfaces});
    if (!opened.ok()) return opened.status();
    transport = *std::move(opened);
  }
  return comm::TwoLevelCommunicator::Connect(control, *std::move(local), *std::move(placement), std::move(transport),
                                             options.deadline);
}

// Between the meeting and the end.
absl::Status RunMet(comm::TcpControl& control, const RankEnvironment& environment, std::optional<uint32_t> local_rank,
                    const std::shared_ptr<SharedMemorySegment>& segment, HostMemory& memory,
                    const std::vector<std::string>& interfaces, const LaunchOptions& options,
                    const RankMain& rank_main) {
  absl::StatusOr<LocalRanks> local = FindLocalRanks(
      control, {.core_limit = CoresOfQuota(CpuQuota()), .interfaces = interfaces, .has_segment = segment != nullptr},
      options.deadline);
  if (!local.ok()) return local.status();
  const KeptCores kept;
  bool has_spare_core = false;
  RankContext context = MakeContext(control, *local, local_rank, options, &has_spare_core);
  if (options.window_bytes == 0) return rank_main(context);
  absl::StatusOr<HostRanks> host =
      ShareMemory(control, segment, environment.rank, *local, options.window_bytes, options.deadline, *options.policy);
  if (!host.ok()) return host.status();
  memory.Set(host->segment);
  absl::StatusOr<std::unique_ptr<comm::TwoLevelCommunicator>> communicator =
      ConnectHosts(control, *host, local->interfaces, options);
  if (!communicator.ok()) return communicator.status();
  context.communicator = communicator->get();
  (*communicator)->set_spins(!context.shares_cores);
  absl::StatusOr<CommThreadChoice> thread =
      AgreeOnCommThread(control, options.comm_thread, has_spare_core, options.deadline);
  if (!thread.ok()) return thread.status();
  if (thread->starts) {
    if (absl::Status started = (*communicator)->StartThread(thread->has_own_core); !started.ok()) return started;
  }
  const absl::Status status = rank_main(context);
  if (!EndsWell(status)) {
    // Before connections close, which the others would take for the cause.
    control.Abort(status);
    return status;
  }
  // Nobody closes connections while others still read from them.
  absl::Status met = control.Barrier(options.deadline);
  return met.ok() ? status : met;
}

}  // namespace

bool ReportDeathOverTcp(const RankEnvironment& environment, uint32_t rank, const std::string& secret,
                        const absl::Status& cause) {
  return comm::ReportDeath(MeetingOf(environment, rank, secret, kReportTimeout, nullptr), cause);
}

absl::Status RunOverTcp(const RankEnvironment& environment, uint32_t local_rank,
                        const std::shared_ptr<SharedMemorySegment>& segment, const LaunchOptions& options,
                        const RankMain& rank_main, std::unique_ptr<Meeting> meeting) {
  HostMemory memory;
  absl::StatusOr<std::unique_ptr<ControlChannel>> channel =
      Meet(environment, environment.rank + local_rank, segment, memory, options, std::move(meeting));
  if (!channel.ok()) return channel.status();
  ControlChannel* const borrowed = channel->get();
  const std::vector<std::string> interfaces = borrowed->interfaces();
  comm::TcpControl control(*std::move(channel));
  ChannelJob job(*borrowed);
  auto watch = options.policy->Enter(job);
  if (!watch.ok()) return watch.status();
  const std::optional<uint32_t> told =
      segment != nullptr ? std::optional<uint32_t>(local_rank) : environment.local_rank;
  absl::Status status = RunMet(control, environment, told, segment, memory, interfaces, options, rank_main);
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
