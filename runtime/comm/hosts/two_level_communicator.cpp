// A blocking collective waits for its host in shared memory and drives the engine for its messages; one that is started
// goes through the engine's queue.
#include "runtime/comm/hosts/two_level_communicator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/hosts/bulk_exchange.h"
#include "runtime/comm/hosts/transport_meeting.h"
#include "runtime/comm/hosts/two_level_plan.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kPage = 4096;

// A collective whose group is on this host alone.
class CollectiveOnHost final : public SteppedCollective {
 public:
  CollectiveOnHost(SharedMemoryCommunicator& local, CollectiveHandle handle) : local_(local), handle_(handle) {}
  CollectiveWait Begin() override { return For(local_.BeginStep(handle_, collective_)); }
  CollectiveWait Continue() override { return For(local_.NextStep(collective_)); }
  const std::string& description() const override { return local_.DescriptionOf(handle_); }

 private:
  static CollectiveWait For(const std::optional<HostWait>& wait) {
    return wait ? CollectiveWait{CollectiveWait::For::kHost, *wait} : CollectiveWait{};
  }
  SharedMemoryCommunicator& local_;
  CollectiveHandle handle_;
  HostCollective collective_;
};

}  // namespace

TwoLevelCommunicator::TwoLevelCommunicator(Control& control, std::unique_ptr<SharedMemoryCommunicator> local,
                                           Placement placement, std::unique_ptr<Transport> transport,
                                           absl::Duration timeout)
    : control_(control),
      local_(std::move(local)),
      links_(std::move(transport), control, std::move(placement), timeout),
      engine_(links_),
      queue_(engine_, local_->control()) {
  SharedMemorySegment& segment = local_->control().segment();
  local_->control().set_job(&control);
  shared_.control = &local_->control();
  shared_.own = this->placement().index_of[rank()];
  shared_.host = this->placement().host_of[rank()];
  for (uint32_t index = 0; index < segment.ranks(); ++index) shared_.host_windows.push_back(segment.window(index));
  engine_.Submit(queue_);
}

absl::StatusOr<std::unique_ptr<TwoLevelCommunicator>> TwoLevelCommunicator::Connect(
    Control& control, std::unique_ptr<SharedMemoryCommunicator> local, Placement placement,
    std::unique_ptr<Transport> transport, absl::Duration timeout) {
  if (transport == nullptr) {
    return std::unique_ptr<TwoLevelCommunicator>(
        new TwoLevelCommunicator(control, std::move(local), std::move(placement), nullptr, timeout));
  }
  absl::Status same = CompareTransports(control, placement, transport->version(), transport->devices(), timeout);
  if (!same.ok()) return same;
  absl::Status registered = transport->Register(local->window(), local->window_bytes());
  if (!registered.ok()) return registered;
  if (absl::Status offered = control.Offer(transport->address(), timeout); !offered.ok()) return offered;
  std::unique_ptr<TwoLevelCommunicator> self(
      new TwoLevelCommunicator(control, std::move(local), std::move(placement), std::move(transport), timeout));
  if (absl::Status status = self->engine_.Start(); !status.ok()) return status;
  return self;
}

TwoLevelCommunicator::~TwoLevelCommunicator() {
  if (under_way_ != 0) control_.Abort(absl::CancelledError("left while a collective was in flight"));
  DropSideMessages();
  // Messages that are still expected go to memory of other members.
  engine_.Stop();
  links_.Close();
}

absl::Status TwoLevelCommunicator::StartThread(bool has_own_core) {
  engine_.set_thread_spins(has_own_core);
  if (absl::Status status = engine_.Start(); !status.ok()) return status;
  if (!has_own_core) local_->control().barrier().set_shares_cores(true);
  is_asynchronous_ = true;
  return absl::OkStatus();
}

absl::StatusOr<CollectiveHandle> TwoLevelCommunicator::Prepare(const Mesh& mesh, const CollectiveSpec& spec) {
  if (mesh.ranks() != control_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a mesh of ", mesh.ranks(), " ranks in a job of ", control_.size(),
                     "; expected one number; start as many ranks as the artifact is for"));
  }
  if (absl::Status status = CheckSpec(mesh, spec, window_bytes()); !status.ok()) return status;
  const uint32_t index = static_cast<uint32_t>(collectives_.size());
  absl::StatusOr<CollectivePlan> plan = MakeCollectivePlan(mesh, spec, rank(), index, local_->staged_limit());
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::unique_ptr<TwoLevelPlan>> wide = MakeTwoLevelPlan(mesh, spec, placement(), rank(), *plan);
  if (!wide.ok()) return wide.status();
  std::unique_ptr<SteppedCollective> collective;
  if (*wide == nullptr) {
    for (std::vector<uint32_t>* ranks : {&plan->members, &plan->readers}) {
      for (uint32_t& member : *ranks) member = placement().index_of[member];
    }
    collective = std::make_unique<CollectiveOnHost>(*local_, local_->AddPlan(*std::move(plan), /*runs_on_host=*/true));
  } else {
    local_->AddPlan(*std::move(plan), /*runs_on_host=*/false);
    const std::unique_lock lock = engine_.Lock();
    auto opened = TwoLevelCollective::Open(links_, index, *std::move(wide), shared_);
    if (!opened.ok()) return opened.status();
    if (absl::Status status = ReserveStaging((*opened)->staging_bytes()); !status.ok()) return status;
    collective = *std::move(opened);
  }
  collectives_.push_back(std::move(collective));
  progress_.emplace_back();
  const std::unique_lock lock = engine_.Lock();
  queue_.Reserve(collectives_.size());
  return CollectiveHandle{index};
}

// Collectives run one at a time, so one staging memory is for all.
absl::Status TwoLevelCommunicator::ReserveStaging(uint64_t bytes) {
  if (bytes <= staging_bytes_) return absl::OkStatus();
  bytes = (bytes + kPage - 1) / kPage * kPage;
  staging_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)));
  shared_.staging = staging_.get();
  staging_bytes_ = staging_ == nullptr ? 0 : bytes;
  if (staging_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("not enough memory for ", bytes, " bytes of messages between hosts"));
  }
  std::memset(staging_.get(), 0, bytes);  // page faults belong before the first step
  return absl::OkStatus();
}

absl::Status TwoLevelCommunicator::CheckPrepared(CollectiveHandle handle) const {
  if (handle.index < collectives_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("collective #", handle.index, " was not prepared"));
}

absl::Status TwoLevelCommunicator::Execute(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  if (!is_asynchronous_ || under_way_ == 0) return Run(handle.index, timeout);
  return WaitForTicket(Enqueue(handle.index, timeout));
}

absl::Status TwoLevelCommunicator::Start(CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  Progress& progress = progress_[handle.index];
  if (progress.is_under_way) {
    return absl::FailedPreconditionError(absl::StrCat(local_->DescriptionOf(handle), " is in flight already"));
  }
  progress.is_under_way = true;
  ++under_way_;
  if (!is_asynchronous_) return progress.status = Run(handle.index, timeout);
  progress.ticket = Enqueue(handle.index, timeout);
  return absl::OkStatus();
}

absl::Status TwoLevelCommunicator::Wait(CollectiveHandle handle, absl::Duration) {
  if (absl::Status status = CheckPrepared(handle); !status.ok()) return status;
  Progress& progress = progress_[handle.index];
  if (!progress.is_under_way) {
    return absl::FailedPreconditionError(absl::StrCat(local_->DescriptionOf(handle), " was not started"));
  }
  absl::Status status = is_asynchronous_ ? WaitForTicket(progress.ticket) : progress.status;
  progress.is_under_way = false;
  --under_way_;
  return status;
}

// Each collective is in the queue once at most.
uint32_t TwoLevelCommunicator::Enqueue(uint32_t index, absl::Duration timeout) {
  uint32_t ticket = 0;
  engine_.Kick(queue_, [&] { ticket = queue_.Push(*collectives_[index], timeout); });
  return ticket;
}

absl::Status TwoLevelCommunicator::WaitForTicket(uint32_t ticket) {
  absl::Status result;
  const auto has_ended = [&] {
    if (!queue_.HasEnded(ticket)) return false;
    result = queue_.ResultOf(ticket);
    return true;
  };
  absl::Status status = engine_.Wait(queue_, has_ended, nullptr);
  return status.ok() ? result : status;
}

absl::Status TwoLevelCommunicator::UseStages(const StageLinks& stages, absl::Duration timeout) {
  if (under_way_ != 0) return absl::FailedPreconditionError("stages: a collective is in flight");
  if (stages.stages == 0 || control_.size() % stages.stages != 0)
    return absl::InvalidArgumentError(absl::StrCat(control_.size(), " ranks are not of ", stages.stages, " stages"));
  // On this host ranks of all stages meet; how many these are does not matter.
  return local_->UseStages(StageLinks{}, timeout);
}

absl::StatusOr<ChannelHandle> TwoLevelCommunicator::PrepareChannel(const ChannelSpec& spec) {
  const std::optional<uint64_t> bytes = MailboxBytes(spec.message_bytes, spec.depth);
  if (spec.peer >= control_.size() || spec.peer == rank() || spec.depth == 0 || !bytes ||
      spec.mailbox_offset % kMailboxAlignment != 0 || spec.mailbox_offset > window_bytes() ||
      *bytes > window_bytes() - spec.mailbox_offset) {
    return absl::InvalidArgumentError(absl::StrCat(
        spec.description, ": ", spec.depth, " messages of ", spec.message_bytes, " bytes to or from rank ", spec.peer,
        " at ", spec.mailbox_offset, " are not in a window of ", window_bytes(), " bytes of another rank"));
  }
  End end{.sends = spec.sends, .message_bytes = spec.message_bytes, .description = spec.description, .on_host = {}};
  if (placement().host_of[spec.peer] == placement().host_of[rank()]) {
    absl::StatusOr<ChannelHandle> local = local_->AddChannel(spec, placement().index_of[spec.peer]);
    if (!local.ok()) return local.status();
    end.on_host = *local;
  } else {
    const std::tuple<uint32_t, uint64_t, bool> key(spec.peer, spec.mailbox_offset, spec.sends);
    auto found = channels_.find(key);
    if (found == channels_.end()) {
      auto opened = HostChannel::Open(engine_, links_, spec, spec.sends ? nullptr : window() + spec.mailbox_offset);
      if (!opened.ok()) return opened.status();
      found = channels_.emplace(key, *std::move(opened)).first;
    }
    end.between_hosts = found->second.get();
  }
  ends_.push_back(std::move(end));
  return ChannelHandle{static_cast<uint32_t>(ends_.size() - 1)};
}

absl::Status TwoLevelCommunicator::CheckChannel(ChannelHandle handle, bool sends) const {
  if (handle.index < ends_.size() && ends_[handle.index].sends == sends) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("channel #", handle.index, " was not prepared for ", sends ? "sending" : "receiving"));
}

absl::Status TwoLevelCommunicator::Send(ChannelHandle handle, const std::byte* source, absl::Duration timeout) {
  if (absl::Status status = CheckChannel(handle, /*sends=*/true); !status.ok()) return status;
  const End& end = ends_[handle.index];
  if (end.between_hosts == nullptr) return local_->Send(end.on_host, source, timeout);
  absl::Status status = end.between_hosts->Send(source, timeout, end.description);
  if (status.ok()) sent_by_channels_ += end.message_bytes;
  return status;
}

absl::Status TwoLevelCommunicator::Receive(ChannelHandle handle, std::byte* target, absl::Duration timeout) {
  if (absl::Status status = CheckChannel(handle, /*sends=*/false); !status.ok()) return status;
  const End& end = ends_[handle.index];
  if (end.between_hosts == nullptr) return local_->Receive(end.on_host, target, timeout);
  return end.between_hosts->Receive(target, timeout, end.description);
}

absl::Status TwoLevelCommunicator::Run(uint32_t index, absl::Duration timeout) {
  using For = CollectiveWait::For;
  SteppedCollective& collective = *collectives_[index];
  for (CollectiveWait wait = collective.Begin(); wait.what != For::kNothing; wait = collective.Continue()) {
    absl::Status status =
        wait.what == For::kMessages
            ? WaitForMessages(collective, timeout)
            : local_->control().WaitFor(wait.host.members, timeout, collective.description(), wait.host.count);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status TwoLevelCommunicator::WaitForMessages(SteppedCollective& collective, absl::Duration timeout) {
  Operation& messages = *collective.messages();
  const ProgressEngine::WaitFor limits{.description = collective.description(), .timeout = timeout};
  engine_.Submit(messages);
  absl::Status status = engine_.Wait(messages, [&] { return collective.HaveMessagesEnded(); }, &limits);
  engine_.Remove(messages);
  return status;
}

// Through memory that lives as long as the transport: what is in flight when the job ends may still be read or written.
absl::StatusOr<SideMessages> TwoLevelCommunicator::ReserveSideMessages(uint32_t to, uint64_t sent_bytes, uint32_t from,
                                                                       uint64_t received_bytes) {
  if (side_memory_ != nullptr) return absl::FailedPreconditionError("messages beside steps are there already");
  const uint64_t begin = (sent_bytes + kPage - 1) / kPage * kPage;  // of what comes
  const uint64_t bytes = begin + (received_bytes + kPage - 1) / kPage * kPage + kPage;
  side_memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)));
  if (side_memory_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("not enough memory for ", bytes, " bytes of copies of the state on their way between hosts"));
  }
  side_messages_ = {to, from, {side_memory_.get(), sent_bytes}, {side_memory_.get() + begin, received_bytes}};
  return side_messages_;
}

absl::Status TwoLevelCommunicator::StartSideMessages(std::function<bool()> take) {
  if (side_memory_ == nullptr || side_ != nullptr || under_way_ != 0)
    return absl::FailedPreconditionError("messages beside steps while others are in flight");
  absl::StatusOr<std::unique_ptr<BulkExchange>> started =
      BulkExchange::Start(engine_, links_,
                          {.sends = {{side_messages_.to, side_messages_.sent}},
                           .receives = {{side_messages_.from, side_messages_.received}}},
                          std::move(take));
  if (started.ok()) side_ = *std::move(started);
  return started.status();
}

absl::Status TwoLevelCommunicator::FinishSideMessages(absl::Duration timeout) {
  if (side_ == nullptr) return absl::OkStatus();
  absl::Status status = side_->Finish(timeout);
  if (status.ok()) side_.reset();
  return status;
}

absl::Status TwoLevelCommunicator::Exchange(const BulkMessages& messages, absl::Duration timeout) {
  if (under_way_ != 0) return absl::FailedPreconditionError("an exchange while a collective is in flight");
  uint64_t bytes = 0;
  for (const BulkMessages::Send& send : messages.sends) bytes += send.bytes.size();
  for (const BulkMessages::Receive& receive : messages.receives) bytes += receive.bytes.size();
  if (bytes > bulk_.size()) bulk_.resize(bytes);
  BulkMessages staged;
  std::byte* next = bulk_.data();
  for (const BulkMessages::Send& send : messages.sends) {
    std::ranges::copy(send.bytes, next);
    staged.sends.push_back({send.peer, {next, send.bytes.size()}});
    next += send.bytes.size();
  }
  for (const BulkMessages::Receive& receive : messages.receives) {
    staged.receives.push_back({receive.peer, {next, receive.bytes.size()}});
    next += receive.bytes.size();
  }
  if (absl::Status status = BulkExchange::Run(engine_, links_, staged, timeout); !status.ok()) return status;
  for (size_t i = 0; i < staged.receives.size(); ++i)
    std::ranges::copy(staged.receives[i].bytes, messages.receives[i].bytes.begin());
  return absl::OkStatus();
}

}  // namespace sgd::comm
