// Meeting, channel, local ranks, memory, communicator. At the end rank 0 stays until all are done, since they hear of
// each other through it.
#include "runtime/launch/tcp_rank.h"

#include <algorithm>
#include <utility>

#include "runtime/comm/control/placement.h"
#include "runtime/comm/hosts/transport.h"
#include "runtime/comm/one_host/shared_memory_communicator.h"
#include "runtime/comm/tcp/control_channel.h"
#include "runtime/launch/comm_thread.h"
#include "runtime/launch/cpu_quota.h"
#include "runtime/launch/local_ranks.h"
#include "runtime/launch/own_cores.h"

namespace sgd::launch {
namespace {

using comm::ControlChannel;

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

// Null where ranks are on one host.
absl::StatusOr<std::unique_ptr<comm::Transport>> OpenTransport(const comm::Placement& placement,
                                                               const std::vector<std::string>& interfaces,
                                                               const LaunchOptions& options) {
  if (placement.hosts() <= 1) return nullptr;
  absl::StatusOr<const comm::TransportPlugin*> plugin = comm::OpenTransportPlugin();
  if (!plugin.ok()) return plugin.status();
  return (*plugin)->Open({.net_devices = options.net_devices, .interfaces = interfaces});
}

}  // namespace

class TcpRank::Job : public JobHandle {
 public:
  explicit Job(ControlChannel& channel) : channel_(channel) {}

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

TcpRank::TcpRank(TcpRankOptions given, const LaunchOptions& options) : given_(std::move(given)), options_(options) {}

TcpRank::~TcpRank() = default;

absl::StatusOr<std::unique_ptr<TcpRank>> TcpRank::Meet(TcpRankOptions given, const LaunchOptions& options) {
  std::unique_ptr<TcpRank> self(new TcpRank(std::move(given), options));
  absl::StatusOr<std::vector<comm::ControlLink>> links = self->MeetOthers();
  if (!links.ok()) return links.status();
  if (absl::Status status = self->StartChannel(*std::move(links)); !status.ok()) return status;
  return self;
}

absl::StatusOr<std::vector<comm::ControlLink>> TcpRank::MeetOthers() {
  if (given_.meeting != nullptr) return given_.meeting->WaitOverTcp();
  const RankEnvironment& environment = given_.environment;
  comm::TcpMeetingOptions meeting{.place = *environment.master,
                                  .rank = environment.rank + given_.local_rank,
                                  .size = environment.size,
                                  .secret = options_.secret,
                                  .timeout = options_.deadline,
                                  .nodes = environment.ToldNodes(),
                                  .own_failure = given_.own_failure,
                                  .acceptor = given_.acceptor};
  // One rank of a host says enough.
  if (given_.local_rank == 0) meeting.note = NotesTo(*options_.policy);
  return comm::MeetOverTcp(meeting);
}

absl::Status TcpRank::StartChannel(std::vector<comm::ControlLink> links) {
  const std::shared_ptr<comm::SharedMemorySegment>& segment = given_.segment;
  const uint32_t local = given_.local_rank;
  // A rank without windows has no communicator in the segment that would mark it as joined.
  if (segment != nullptr && options_.window_bytes == 0) segment->flag(local).state.store(comm::RankState::kJoined);
  comm::ControlChannelOptions channel;
  channel.rank = given_.environment.rank + local;
  channel.size = given_.environment.size;
  if (segment != nullptr) {
    // The supervisor says what has happened, and ends the ranks that do not end themselves.
    channel.on_abort = [segment](uint32_t at_fault, const absl::Status& cause) { segment->Abort(at_fault, cause); };
    channel.on_state_kept = [segment] { segment->MarkStateKept(); };
    channel.on_step = [segment, local](uint64_t begun) { segment->flag(local).begun.store(begun); };
  } else {
    channel.on_abort = [this](uint32_t at_fault, const absl::Status& cause) {
      memory_.Abort(at_fault, cause);
      if (given_.on_abort) given_.on_abort(at_fault, cause);
    };
  }
  channel.give_up = [policy = options_.policy](const absl::Status& cause) { policy->GiveUp(cause); };
  channel.where = [policy = options_.policy] { return policy->Where(); };
  absl::StatusOr<std::unique_ptr<ControlChannel>> started = ControlChannel::Start(std::move(links), std::move(channel));
  if (!started.ok()) return started.status();
  channel_ = started->get();
  control_ = std::make_unique<comm::TcpControl>(*std::move(started));
  job_ = std::make_unique<Job>(*channel_);
  auto watch = options_.policy->Enter(*job_);
  if (watch.ok()) watch_ = *std::move(watch);
  return watch.status();
}

absl::Status TcpRank::Prepare() {
  const RankEnvironment& environment = given_.environment;
  absl::StatusOr<LocalRanks> local = FindLocalRanks(*control_,
                                                    {.core_limit = CoresOfQuota(CpuQuota()),
                                                     .interfaces = channel_->interfaces(),
                                                     .has_segment = given_.segment != nullptr},
                                                    options_.deadline);
  if (!local.ok()) return local.status();
  const std::optional<uint32_t> told =
      given_.segment != nullptr ? std::optional<uint32_t>(given_.local_rank) : environment.local_rank;
  bool has_spare_core = false;
  context_ = MakeContext(*control_, *local, told, options_, &has_spare_core);
  if (options_.window_bytes == 0) return absl::OkStatus();
  absl::StatusOr<HostRanks> host = ShareMemory(*control_, given_.segment, environment.rank, *local,
                                               options_.window_bytes, options_.deadline, *options_.policy);
  if (!host.ok()) return host.status();
  memory_.Set(host->segment);
  if (absl::Status status = Connect(*host, local->interfaces); !status.ok()) return status;
  context_.communicator = communicator_.get();
  communicator_->set_spins(!context_.shares_cores);
  return StartThread(has_spare_core);
}

absl::Status TcpRank::Connect(const HostRanks& host, const std::vector<std::string>& interfaces) {
  absl::StatusOr<std::unique_ptr<comm::SharedMemoryCommunicator>> local = comm::SharedMemoryCommunicator::Connect(
      host.segment, host.own, options_.deadline, CoresOfQuota(CpuQuota()), host.ranks);
  if (!local.ok()) return local.status();
  absl::StatusOr<comm::Placement> placement = comm::AgreeOnPlacement(*control_, host.key, options_.deadline);
  if (!placement.ok()) return placement.status();
  absl::StatusOr<std::unique_ptr<comm::Transport>> transport = OpenTransport(*placement, interfaces, options_);
  if (!transport.ok()) return transport.status();
  absl::StatusOr<std::unique_ptr<comm::TwoLevelCommunicator>> communicator = comm::TwoLevelCommunicator::Connect(
      *control_, *std::move(local), *std::move(placement), *std::move(transport), options_.deadline);
  if (communicator.ok()) communicator_ = *std::move(communicator);
  return communicator.status();
}

absl::Status TcpRank::StartThread(bool has_spare_core) {
  absl::StatusOr<CommThreadChoice> thread =
      AgreeOnCommThread(*control_, options_.comm_thread, has_spare_core, options_.deadline);
  if (!thread.ok()) return thread.status();
  return thread->starts ? communicator_->StartThread(thread->has_own_core) : absl::OkStatus();
}

absl::Status TcpRank::End(const absl::Status& outcome) {
  absl::Status status = outcome;
  if (EndsWell(status) && communicator_ != nullptr) {
    // Nobody closes connections while others still read from them.
    if (absl::Status met = control_->Barrier(options_.deadline); !met.ok()) status = met;
  }
  // Before connections close, which the others would take for the cause.
  if (!EndsWell(status)) control_->Abort(status);
  communicator_ = nullptr;
  if (!EndsWell(status)) return status;
  control_->Finish();
  if (absl::Status others = channel_->WaitForOthers(options_.deadline); !others.ok()) return others;
  if (given_.segment != nullptr) given_.segment->flag(given_.local_rank).state.store(comm::RankState::kDone);
  return status;
}

}  // namespace sgd::launch
