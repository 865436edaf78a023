// Ranks meet link by link in one order of all links, so that of those not yet made the first one can always be made.
#include "targets/gpu/device/nccl_links.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"
#include "targets/gpu/device/memory/memory.h"

namespace sgd::cuda {
namespace {

// Messages are beside compute, and a receive that waits keeps its blocks on the GPU's processors: few are enough for
// the speed of a link.
constexpr int kBlocksOfLink = 4;

}  // namespace

absl::StatusOr<LinkMap> LinkMap::Create(const comm::StageLinks& stages, uint32_t ranks, uint32_t rank) {
  if (stages.stages == 0 || ranks % stages.stages != 0)
    return absl::InvalidArgumentError(
        absl::StrCat(ranks, " ranks are no ", stages.stages, " stages; expected as many in each"));
  LinkMap map;
  map.stage_links_ = stages.links;
  map.ranks_of_stage_ = ranks / stages.stages;
  map.rank_ = rank;
  const uint32_t place = rank % map.ranks_of_stage_;
  for (const auto& [from, to] : stages.links) {
    if (from >= stages.stages || to >= stages.stages || from == to)
      return absl::InvalidArgumentError(
          absl::StrCat("a link from stage ", from, " to stage ", to, " of ", stages.stages));
    if (from == map.stage() || to == map.stage())
      map.links_.push_back({from * map.ranks_of_stage_ + place, to * map.ranks_of_stage_ + place});
  }
  return map;
}

uint32_t LinkMap::IdsOf(uint32_t rank) const {
  uint32_t count = MakesStageId(rank) ? 1 : 0;
  for (const auto& [from, to] : stage_links_) count += from == rank / ranks_of_stage_ ? 1 : 0;
  return count;
}

std::pair<uint32_t, uint32_t> LinkMap::IdOf(const Link& link) const {
  uint32_t number = MakesStageId(link.from) ? 1 : 0;
  for (const auto& [from, to] : stage_links_) {
    if (from == link.from / ranks_of_stage_ && to == link.to / ranks_of_stage_) break;
    number += from == link.from / ranks_of_stage_ ? 1 : 0;
  }
  return {link.from, number};
}

absl::StatusOr<std::unique_ptr<NcclLinks>> NcclLinks::Connect(CudaDevice& device, std::shared_ptr<const Nccl> nccl,
                                                              const LinkMap& map, std::span<const ncclUniqueId> ids,
                                                              const NcclGroup::Host& host, absl::Duration timeout) {
  auto links = absl::WrapUnique(new NcclLinks(device, nccl, timeout));
  links->links_ = map.links();
  for (size_t i = 0; i < links->links_.size(); ++i) {
    const LinkMap::Link& link = links->links_[i];
    links->sends_.push_back(link.from / map.ranks_of_stage() == map.stage());
    absl::StatusOr<std::unique_ptr<NcclGroup>> group =
        NcclGroup::Meet(nccl, ids[i], 2, links->sends_[i] ? 0 : 1, host, timeout, kBlocksOfLink);
    if (!group.ok())
      return absl::Status(group.status().code(), absl::StrCat("link from rank ", link.from, " to rank ", link.to, ": ",
                                                              group.status().message()));
    links->groups_.push_back(*std::move(group));
  }
  absl::Status status = links->SendFirst(map, host);
  if (status.ok()) return links;
  links->Abort();
  return status;
}

// One by one, in the order of links: the first message of two ranks is where their hosts may wait for each other.
absl::Status NcclLinks::SendFirst(const LinkMap& map, const NcclGroup::Host& host) {
  if (groups_.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<device::Arena>> memory = device_.AllocateApart(sizeof(uint32_t));
  if (!memory.ok()) return memory.status();
  CudaStreams& streams = device_.cuda_streams();
  const absl::Time deadline = SteadyNow() + timeout_;
  for (uint32_t link = 0; link < groups_.size(); ++link) {
    absl::Status status = sends_[link] ? Send(link, (*memory)->data(), sizeof(uint32_t), streams.compute())
                                       : Receive(link, (*memory)->data(), sizeof(uint32_t), streams.compute());
    while (status.ok()) {
      absl::StatusOr<bool> is_idle = streams.IsIdle();
      status = is_idle.status();
      if (status.ok() && *is_idle) break;
      if (status.ok()) status = host.watch();
      if (status.ok()) status = groups_[link]->Poll();
      if (status.ok() && SteadyNow() > deadline)
        status = absl::DeadlineExceededError(absl::StrCat("the first message has not come in ",
                                                          absl::FormatDuration(timeout_),
                                                          "; expected the peer; see its own output"));
    }
    if (!status.ok())
      return absl::Status(status.code(), absl::StrCat("link from rank ", links_[link].from, " to rank ",
                                                      links_[link].to, ": ", status.message()));
  }
  return absl::OkStatus();
}

NcclLinks::~NcclLinks() {
  for (std::unique_ptr<NcclGroup>& group : groups_) group.reset();
}

absl::StatusOr<uint32_t> NcclLinks::Find(uint32_t from, uint32_t to) const {
  for (uint32_t i = 0; i < links_.size(); ++i) {
    if (links_[i].from == from && links_[i].to == to) return i;
  }
  return absl::InvalidArgumentError(absl::StrCat("ranks ", from, " and ", to, " have no link"));
}

absl::Status NcclLinks::Finish(uint32_t link, absl::Status status, const char* what) const {
  status.Update(nccl_->Check(nccl_->ncclGroupEnd(), what));
  return status.ok() ? groups_[link]->Settle(timeout_) : status;
}

absl::Status NcclLinks::Send(uint32_t link, const std::byte* source, uint64_t bytes, CUstream stream) {
  constexpr char kWhat[] = "send";
  absl::Status status = nccl_->Check(nccl_->ncclGroupStart(), kWhat);
  if (!status.ok()) return status;
  status = nccl_->Check(nccl_->ncclSend(source, bytes, ncclUint8, 1, groups_[link]->get(), stream), kWhat);
  return Finish(link, status, kWhat);
}

absl::Status NcclLinks::Receive(uint32_t link, std::byte* target, uint64_t bytes, CUstream stream) {
  constexpr char kWhat[] = "receive";
  absl::Status status = nccl_->Check(nccl_->ncclGroupStart(), kWhat);
  if (!status.ok()) return status;
  status = nccl_->Check(nccl_->ncclRecv(target, bytes, ncclUint8, 0, groups_[link]->get(), stream), kWhat);
  return Finish(link, status, kWhat);
}

absl::Status NcclLinks::Poll() const {
  for (const std::unique_ptr<NcclGroup>& group : groups_) {
    if (absl::Status status = group->Poll(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void NcclLinks::Abort() {
  for (const std::unique_ptr<NcclGroup>& group : groups_) group->Abort();
}

}  // namespace sgd::cuda
