// Groups of ranks, and waits for them.
#include "targets/gpu/device/cuda_communicator.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::cuda {
namespace {

// How long the cause of an error in NCCL, as a peer's death, may take to come over the control channel.
constexpr absl::Duration kCause = absl::Milliseconds(300);
// By how much deadlines of ranks that wait for each other may differ.
constexpr absl::Duration kSkew = absl::Seconds(2);

// ": on ranks 0, 2 the GPU is at all_reduce #1 (...); on rank 1 ...". Empty where all are at the same place.
std::string PlacesOf(const std::vector<std::string>& places) {
  std::vector<std::pair<std::string, std::vector<uint32_t>>> ranks_at;
  for (uint32_t rank = 0; rank < places.size(); ++rank) {
    auto at = std::ranges::find(ranks_at, places[rank], &std::pair<std::string, std::vector<uint32_t>>::first);
    if (at == ranks_at.end()) at = ranks_at.insert(ranks_at.end(), {places[rank], {}});
    at->second.push_back(rank);
  }
  if (ranks_at.size() == 1) return "";
  return absl::StrCat(": ", absl::StrJoin(ranks_at, "; ", [](std::string* text, const auto& entry) {
                        absl::StrAppend(text, entry.second.size() > 1 ? "on ranks " : "on rank ",
                                        absl::StrJoin(entry.second, ", "), " ", entry.first);
                      }));
}

std::vector<uint32_t> KeyOf(const std::vector<comm::AxisRef>& axes) {
  std::vector<uint32_t> key;
  for (const comm::AxisRef& axis : axes) key.insert(key.end(), {axis.axis, axis.pre_size, axis.size});
  return key;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaCommunicator>> CudaCommunicator::Create(CudaDevice& device, comm::Control& control,
                                                                           uint64_t window_bytes,
                                                                           absl::Duration timeout) {
  auto communicator = absl::WrapUnique(new CudaCommunicator(device, control, timeout));
  absl::StatusOr<std::unique_ptr<device::Arena>> window = device.AllocateWindow(window_bytes);
  if (!window.ok()) return window.status();
  communicator->window_ = *std::move(window);
  return communicator;
}

absl::StatusOr<comm::CollectiveHandle> CudaCommunicator::Prepare(const comm::Mesh& mesh,
                                                                 const comm::CollectiveSpec& spec) {
  if (absl::Status status = comm::CheckSpec(mesh, spec, window_bytes()); !status.ok()) return status;
  const uint32_t index = static_cast<uint32_t>(collectives_.size());
  absl::StatusOr<comm::CollectivePlan> plan = comm::MakeCollectivePlan(mesh, spec, control_.rank(), index, 0);
  if (!plan.ok()) return plan.status();
  Collective collective;
  collective.description = plan->description;
  collective.sent_bytes = plan->sent_bytes;
  if (plan->members.size() > 1) {
    absl::StatusOr<NcclGroup*> group = GroupOf(spec.axes, *plan);
    if (!group.ok()) return group.status();
    collective.group = *group;
  }
  const ActionPlace place{
      .driver = &device_.cuda_streams().driver(), .nccl = nccl_.get(), .group = collective.group, .window = window()};
  absl::StatusOr<std::vector<Action>> actions = MakeActions(place, mesh, spec, *plan);
  if (!actions.ok()) {
    return absl::Status(actions.status().code(),
                        absl::StrCat(collective.description, ": ", actions.status().message()));
  }
  collective.actions = *std::move(actions);
  collectives_.push_back(std::move(collective));
  return comm::CollectiveHandle{index};
}

absl::Status CudaCommunicator::OpenNccl(uint32_t links) {
  absl::StatusOr<std::shared_ptr<const Nccl>> nccl = device_.nccl();
  if (!nccl.ok()) return nccl.status();
  absl::StatusOr<std::unique_ptr<ProgressMark>> mark = device_.MakeProgressMark(1 + links);
  if (!mark.ok()) return mark.status();
  mark_ = *std::move(mark);
  nccl_ = *std::move(nccl);
  return absl::OkStatus();
}

absl::StatusOr<NcclGroup*> CudaCommunicator::GroupOf(const std::vector<comm::AxisRef>& axes,
                                                     const comm::CollectivePlan& plan) {
  std::unique_ptr<NcclGroup>& group = groups_[KeyOf(axes)];
  if (group != nullptr) return group.get();
  if (nccl_ == nullptr) {
    if (absl::Status status = OpenNccl(0); !status.ok()) return status;
  }
  absl::StatusOr<std::unique_ptr<NcclGroup>> met =
      world_ != nullptr ? world_->Split(plan.members[0], plan.position, timeout_) : MeetById(plan);
  absl::Status status = met.status();
  if (status.ok()) status = (*met)->Register(window(), window_bytes(), timeout_);
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(plan.description, ": ", status.message()));
  group = *std::move(met);
  const bool is_in_order = std::ranges::is_sorted(plan.members);
  if (plan.members.size() == control_.size() && is_in_order && world_ == nullptr) world_ = group.get();
  return group.get();
}

// The first member of each group makes its id, and every rank sees all of them.
absl::StatusOr<std::unique_ptr<NcclGroup>> CudaCommunicator::MeetById(const comm::CollectivePlan& plan) {
  ncclUniqueId id{};
  std::string mine;
  if (plan.position == 0) {
    absl::Status status = nccl_->Check(nccl_->ncclGetUniqueId(&id), "cannot make an id");
    if (!status.ok()) return status;
    mine.assign(id.internal, sizeof(id.internal));
  }
  absl::StatusOr<std::vector<std::string>> all = control_.AllGatherBytes(mine, timeout_);
  if (!all.ok()) return all.status();
  const std::string& theirs = (*all)[plan.members[0]];
  if (theirs.size() != sizeof(id.internal)) return absl::InternalError("a rank gave no id of its group");
  std::copy(theirs.begin(), theirs.end(), id.internal);
  return NcclGroup::Meet(nccl_, id, static_cast<uint32_t>(plan.members.size()), plan.position, HostOfGroups(),
                         timeout_);
}

NcclGroup::Host CudaCommunicator::HostOfGroups() {
  return {.watch = [this] { return control_.Poll(); },
          .use_device = [device = &device_] { device->UseOnThisThread(); }};
}

// Ranks of different stages prepare different collectives: here is the only place where all of them meet.
absl::Status CudaCommunicator::UseStages(const comm::StageLinks& stages, absl::Duration timeout) {
  if (std::exchange(has_stages_, true)) return absl::OkStatus();
  absl::StatusOr<LinkMap> map = LinkMap::Create(stages, control_.size(), control_.rank());
  if (!map.ok()) return map.status();
  if (control_.size() == 1) return absl::OkStatus();
  if (absl::Status status = OpenNccl(static_cast<uint32_t>(map->links().size())); !status.ok()) return status;
  absl::StatusOr<std::vector<std::vector<ncclUniqueId>>> ids = ExchangeIds(*map);
  if (!ids.ok()) return ids.status();
  const auto id_at = [&](std::pair<uint32_t, uint32_t> place) { return (*ids)[place.first][place.second]; };
  if (const uint32_t ranks = map->ranks_of_stage(); ranks > 1) {
    absl::StatusOr<std::unique_ptr<NcclGroup>> met =
        NcclGroup::Meet(nccl_, id_at(map->IdOfStage()), ranks, control_.rank() % ranks, HostOfGroups(), timeout);
    if (!met.ok())
      return absl::Status(met.status().code(), absl::StrCat("stage ", map->stage(), ": ", met.status().message()));
    stage_ = *std::move(met);
    world_ = stage_.get();
  }
  std::vector<ncclUniqueId> of_links;
  for (const LinkMap::Link& link : map->links()) of_links.push_back(id_at(map->IdOf(link)));
  absl::StatusOr<std::unique_ptr<NcclLinks>> links =
      NcclLinks::Connect(device_, nccl_, *map, of_links, HostOfGroups(), timeout);
  if (!links.ok()) return links.status();
  links_ = *std::move(links);
  return absl::OkStatus();
}

// Of all ranks, those that LinkMap::IdsOf says.
absl::StatusOr<std::vector<std::vector<ncclUniqueId>>> CudaCommunicator::ExchangeIds(const LinkMap& map) {
  std::string mine;
  for (uint32_t i = 0; i < map.ids(); ++i) {
    ncclUniqueId id{};
    if (absl::Status status = nccl_->Check(nccl_->ncclGetUniqueId(&id), "cannot make an id"); !status.ok())
      return status;
    mine.append(id.internal, sizeof(id.internal));
  }
  absl::StatusOr<std::vector<std::string>> all = control_.AllGatherBytes(mine, timeout_);
  if (!all.ok()) return all.status();
  std::vector<std::vector<ncclUniqueId>> ids(all->size());
  for (uint32_t rank = 0; rank < ids.size(); ++rank) {
    const std::string& theirs = (*all)[rank];
    ids[rank].resize(map.IdsOf(rank));
    if (theirs.size() != ids[rank].size() * sizeof(ncclUniqueId))
      return absl::InternalError(absl::StrCat("rank ", rank, " gave no ids of its links"));
    std::copy(theirs.begin(), theirs.end(), reinterpret_cast<char*>(ids[rank].data()));
  }
  return ids;
}

absl::StatusOr<comm::ChannelHandle> CudaCommunicator::PrepareChannel(const comm::ChannelSpec& spec) {
  if (links_ == nullptr)
    return absl::FailedPreconditionError(absl::StrCat(spec.description, ": ranks have no links; UseStages makes them"));
  absl::StatusOr<uint32_t> link =
      spec.sends ? links_->Find(control_.rank(), spec.peer) : links_->Find(spec.peer, control_.rank());
  if (!link.ok())
    return absl::Status(link.status().code(), absl::StrCat(spec.description, ": ", link.status().message()));
  channels_.push_back({spec, *link});
  return comm::ChannelHandle{static_cast<uint32_t>(channels_.size() - 1)};
}

absl::Status CudaCommunicator::EnqueueMessage(comm::ChannelHandle handle,
                                              const std::function<absl::Status(CUstream stream)>& enqueue) {
  const ChannelEnd& end = channels_[handle.index];
  const CUstream stream = device_.cuda_streams().used();
  absl::Status status = mark_->Set(1 + end.link, handle.index + 1, stream);
  if (status.ok()) status = enqueue(stream);
  if (status.ok()) status = mark_->Set(1 + end.link, 0, stream);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(end.spec.description, ": ", status.message()));
}

absl::Status CudaCommunicator::EnqueueSend(comm::ChannelHandle handle, const std::byte* source) {
  const ChannelEnd& end = channels_[handle.index];
  sent_bytes_ += end.spec.message_bytes;
  return EnqueueMessage(
      handle, [&](CUstream stream) { return links_->Send(end.link, source, end.spec.message_bytes, stream); });
}

absl::Status CudaCommunicator::EnqueueReceive(comm::ChannelHandle handle, std::byte* target) {
  const ChannelEnd& end = channels_[handle.index];
  return EnqueueMessage(
      handle, [&](CUstream stream) { return links_->Receive(end.link, target, end.spec.message_bytes, stream); });
}

absl::Status CudaCommunicator::Enqueue(comm::CollectiveHandle handle) {
  const Collective& collective = collectives_[handle.index];
  const CUstream stream = device_.cuda_streams().used();
  absl::Status status;
  if (collective.group != nullptr) status = mark_->Set(0, handle.index + 1, stream);
  for (const Action& action : collective.actions) {
    if (status.ok()) status = action(stream);
    if (status.ok() && collective.group != nullptr) status = collective.group->Settle(timeout_);
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(collective.description, ": ", status.message()));
  }
  if (collective.group != nullptr && links_ != nullptr) status = mark_->Set(0, 0, stream);
  sent_bytes_ += collective.sent_bytes;
  return status;
}

absl::Status CudaCommunicator::PollGroups() const {
  absl::Status status = stage_ == nullptr ? absl::OkStatus() : stage_->Poll();
  if (status.ok() && links_ != nullptr) status = links_->Poll();
  for (const auto& [axes, group] : groups_) {
    if (status.ok() && group != nullptr) status = group->Poll();
  }
  return status;
}

absl::Status CudaCommunicator::Poll() {
  if (absl::Status cause = control_.Poll(); !cause.ok()) return cause;
  absl::Status status = PollGroups();
  // A peer that has gone is an error of NCCL here; who it was is known to the control channel.
  const absl::Time end = status.ok() ? absl::InfinitePast() : SteadyNow() + kCause;
  while (SteadyNow() < end) {
    if (absl::Status cause = control_.Poll(); !cause.ok()) return cause;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return status;
}

std::string CudaCommunicator::UnderWay() const {
  const std::vector<uint32_t> marks = mark_ == nullptr ? std::vector<uint32_t>{0} : mark_->Read();
  std::string text;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] == 0 || marks[i] > (i == 0 ? collectives_.size() : channels_.size())) continue;
    absl::StrAppend(&text, text.empty() ? "the GPU is at " : ", ");
    if (i == 0) {
      text += collectives_[marks[i] - 1].description;
      continue;
    }
    const comm::ChannelSpec& spec = channels_[marks[i] - 1].spec;
    absl::StrAppend(&text, spec.description, " (", spec.location, ")");
  }
  if (!text.empty()) return text;
  return links_ == nullptr ? "no collective of the GPU has begun" : "no collective or message of the GPU is in flight";
}

absl::Status CudaCommunicator::Late(absl::Duration waited) {
  const std::string where = UnderWay();
  // Ranks that wait for each other come here at about the same time.
  const absl::StatusOr<std::vector<std::string>> places = control_.AllGatherBytes(where, kSkew);
  if (!places.ok() && !absl::IsDeadlineExceeded(places.status())) return places.status();
  return absl::DeadlineExceededError(
      absl::StrCat(where, ", and has not come to the end in ", absl::FormatDuration(waited),
                   places.ok() ? absl::StrCat("; all ranks wait", PlacesOf(*places))
                               : absl::StrCat("; of those who wait, ", places.status().message())));
}

absl::Status CudaCommunicator::Execute(comm::CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = Start(handle, timeout); !status.ok()) return status;
  return Wait(handle, timeout);
}

absl::Status CudaCommunicator::Start(comm::CollectiveHandle handle, absl::Duration timeout) {
  collectives_[handle.index].has_started = true;
  return Enqueue(handle);
}

absl::Status CudaCommunicator::Wait(comm::CollectiveHandle handle, absl::Duration timeout) {
  Collective& collective = collectives_[handle.index];
  if (!std::exchange(collective.has_started, false)) {
    return absl::FailedPreconditionError(absl::StrCat(collective.description, " is waited for, but was not started"));
  }
  const absl::Time deadline = SteadyNow() + timeout;
  while (true) {
    absl::StatusOr<bool> is_idle = device_.cuda_streams().IsIdle();
    if (!is_idle.ok()) return is_idle.status();
    if (*is_idle) return absl::OkStatus();
    if (absl::Status status = Poll(); !status.ok()) return status;
    if (SteadyNow() > deadline) return Late(timeout);
  }
}

void CudaCommunicator::EndJob(const absl::Status& cause) {
  control_.Abort(cause);
  if (links_ != nullptr) links_->Abort();
  if (stage_ != nullptr) stage_->Abort();
  for (const auto& [axes, group] : groups_) {
    if (group != nullptr) group->Abort();
  }
}

}  // namespace sgd::cuda
