// Between hosts, one rank of each stands for it: an agent, another one for each part of a reduction or each rank's
// contribution to a gather, so that all ranks of a host send and receive about as much.
//   AllReduce has three forms (host_forms.h). Swap: the agents of a part send their hosts' values to each other, all
//     reduce, and store the result to all ranks of their host. Doubling: the same in rounds. Parts: one per rank, which
//     gets the other hosts' values of it, reduces and sends the result to the others' agents: for two hosts twice the
//     messages of a swap, for more the fewest bytes.
//   ReduceScatter: as parts, without the way back.
//   AllGather: each rank sends to one agent per host, which stores to all ranks of its host.
//   Broadcast: agents get a range each, from the root or from another host's agent that has it.
//   AllToAll, Permute, GatherRange: from rank to rank.
#include "runtime/comm/hosts/two_level_plan.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "runtime/comm/hosts/host_forms.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kLine = 64;
// A message is a small part of what goes between two ranks, so that little waits for the first one and the last one.
constexpr uint64_t kChunksPerFlow = 16;
constexpr uint64_t kLeastChunk = 32 << 10;
constexpr uint64_t kMostChunk = 256 << 10;
constexpr uint64_t kOneChunk = uint64_t{1} << 40;

uint64_t ChunkBytes(uint64_t flow_bytes) {
  return std::clamp(flow_bytes / kChunksPerFlow / kLine * kLine, kLeastChunk, kMostChunk);
}

// The members of a group on one host.
struct HostMembers {
  uint32_t host = 0;
  std::vector<uint32_t> positions;
};

class Planner {
 public:
  Planner(const Mesh& mesh, const CollectiveSpec& spec, const Placement& placement, uint32_t rank,
          const CollectivePlan& base)
      : mesh_(mesh), spec_(spec), placement_(placement), rank_(rank), own_host_(placement.host_of[rank]) {
    plan_->base = base;
    plan_->local_positions.assign(base.members.size(), -1);
    for (uint32_t position = 0; position < base.members.size(); ++position) {
      const uint32_t member = base.members[position], host = placement.host_of[member];
      auto found = std::ranges::find(hosts_, host, &HostMembers::host);
      if (found == hosts_.end()) found = hosts_.insert(hosts_.end(), {host, {}});
      found->positions.push_back(position);
      if (host != own_host_) continue;
      plan_->local_members.push_back(placement.index_of[member]);
      plan_->local_positions[position] = static_cast<int32_t>(placement.index_of[member]);
    }
  }

  bool SpansHosts() const { return hosts_.size() > 1; }

  absl::StatusOr<std::unique_ptr<TwoLevelPlan>> Make() {
    absl::Status status;
    switch (spec_.kind) {
      case CollectiveKind::kAllReduce:
        PlanAllReduce();
        break;
      case CollectiveKind::kReduceScatter:
        PlanReduceScatter();
        break;
      case CollectiveKind::kAllGather:
        PlanAllGather();
        break;
      case CollectiveKind::kBroadcast:
        PlanBroadcast();
        break;
      case CollectiveKind::kAllToAll:
      case CollectiveKind::kPermute:
      case CollectiveKind::kGatherRange:
        status = PlanDirect();
        break;
    }
    if (!status.ok()) return status;
    CountBytes();
    return std::move(plan_);
  }

 private:
  const std::vector<uint32_t>& members() const { return plan_->base.members; }
  uint32_t AgentOf(const HostMembers& host, uint64_t which) const {
    return members()[host.positions[which % host.positions.size()]];
  }
  const HostMembers& OwnHost() const { return *std::ranges::find(hosts_, own_host_, &HostMembers::host); }

  void FindNodes() {
    std::vector<uint32_t> host_of;
    for (uint32_t member : members()) host_of.push_back(placement_.host_of[member]);
    plan_->nodes = FindGroupNodes(host_of);
  }

  // The part `index` of `count` of an AllReduce. Short operands are in one part, another one for each.
  std::vector<PartOperand> PartOfAll(uint64_t index, uint64_t count) const {
    std::vector<PartOperand> operands;
    for (size_t i = 0; i < spec_.operands.size(); ++i) {
      const CollectiveOperand& operand = spec_.operands[i];
      const uint64_t size = ElementSize(operand.element), unit = kLine / size;
      const uint64_t part = ((operand.count + count - 1) / count + unit - 1) / unit * unit;
      const uint64_t begin = std::min(operand.count, part * ((index + i) % count));
      PartOperand out;
      out.kernel = plan_->base.operands[i].reduction.kernel;
      out.element_size = static_cast<uint32_t>(size);
      out.elements = out.row_elements = std::min(operand.count, begin + part) - begin;
      out.source_offset = operand.source_offset + begin * size;
      out.target_offset = operand.target_offset + begin * size;
      if (out.elements > 0) operands.push_back(out);
    }
    return operands;
  }

  // The part of a ReduceScatter that position `position` gets.
  std::vector<PartOperand> PartOfPosition(uint64_t position) const {
    std::vector<PartOperand> operands;
    for (size_t i = 0; i < spec_.operands.size(); ++i) {
      const CollectiveOperand& operand = spec_.operands[i];
      const uint64_t size = ElementSize(operand.element);
      PartOperand out;
      out.kernel = plan_->base.operands[i].reduction.kernel;
      out.element_size = static_cast<uint32_t>(size);
      out.source_offset = operand.source_offset + position * operand.inner * size;
      out.target_offset = operand.target_offset;
      out.elements = operand.outer * operand.inner;
      out.row_elements = operand.inner;
      out.source_row_stride = members().size() * operand.inner * size;
      if (out.elements > 0) operands.push_back(out);
    }
    return operands;
  }

  // Null for a part without elements.
  std::unique_ptr<ReductionPart> MakePart(std::vector<PartOperand> operands) const {
    uint64_t bytes = 0;
    for (const PartOperand& operand : operands) bytes += operand.elements * operand.element_size;
    if (bytes == 0) return nullptr;
    return std::make_unique<ReductionPart>(std::move(operands), plan_->nodes, ChunkBytes(bytes));
  }

  AllReduceSizes SizesOfAllReduce() const {
    AllReduceSizes sizes;
    uint64_t operand_bytes = 0;
    for (const CollectiveOperand& operand : spec_.operands)
      operand_bytes += operand.count * ElementSize(operand.element);
    for (const HostMembers& host : hosts_) {
      uint64_t values = 0;
      for (size_t i = 0; i < spec_.operands.size(); ++i) {
        const uint64_t size = ElementSize(spec_.operands[i].element),
                       accumulator = plan_->base.operands[i].reduction.kernel->accumulator_size;
        for (const TreeNode& node : plan_->nodes.nodes) {
          if (node.host == host.host) values += spec_.operands[i].count * (node.count == 1 ? size : accumulator);
        }
        if (&host == hosts_.data()) sizes.accumulators += spec_.operands[i].count * accumulator;
      }
      sizes.values = std::max(sizes.values, values);
      const uint64_t own = host.positions.size(), all = members().size();
      sizes.parts = std::max(sizes.parts, (values * (all - own) + operand_bytes * own * (hosts_.size() - 1)) / all);
    }
    return sizes;
  }

  void PlanAllReduce() {
    FindNodes();
    const uint32_t hosts = static_cast<uint32_t>(hosts_.size());
    const AllReduceSizes sizes = SizesOfAllReduce();
    switch (ChooseAllReduce(sizes, hosts, CanDouble(plan_->nodes))) {
      case AllReduceForm::kSwap:
        return PlanSwap(sizes.values);
      case AllReduceForm::kDoubling:
        return PlanDoubling();
      case AllReduceForm::kParts:
        break;
    }
    for (uint32_t position = 0; position < members().size(); ++position)
      PlanOwnedPart(position, PartOfAll(position, members().size()), /*sends_results=*/true);
  }

  // Parts for as many ranks of each host as have enough to do. No two parts are between the same two ranks.
  uint64_t PartsToSwap(uint64_t value_bytes) const {
    uint64_t most = 0, least = UINT64_MAX;
    for (const HostMembers& host : hosts_) {
      most = std::max<uint64_t>(most, host.positions.size());
      least = std::min<uint64_t>(least, host.positions.size());
    }
    return std::clamp(value_bytes / kLeastChunk, uint64_t{1}, hosts_.size() == 2 ? most : least);
  }

  void PlanSwap(uint64_t value_bytes) {
    const uint64_t parts = PartsToSwap(value_bytes);
    for (uint64_t index = 0; index < parts; ++index) {
      if (AgentOf(OwnHost(), index) != rank_) continue;
      PartPlan part;
      part.part = MakePart(PartOfAll(index, parts));
      if (part.part == nullptr) continue;
      for (const HostMembers& host : hosts_) {
        if (host.host == own_host_) continue;
        part.values_to.push_back(AgentOf(host, index));
        part.values_from.push_back({AgentOf(host, index), host.host});
      }
      part.targets = plan_->local_members;
      plan_->parts.push_back(std::move(part));
    }
  }

  // Hosts are numbered here by their place in the tree.
  void PlanDoubling() {
    if (AgentOf(OwnHost(), 0) != rank_) return;
    DoublingPlan doubling;
    doubling.part = std::make_unique<ReductionPart>(PartOfAll(0, 1), plan_->nodes, kOneChunk);
    if (doubling.part->chunks() == 0) return;
    doubling.targets = plan_->local_members;
    const std::vector<TreeNode>& nodes = plan_->nodes.nodes;
    const size_t own = static_cast<size_t>(std::ranges::find(nodes, own_host_, &TreeNode::host) - nodes.begin());
    for (size_t distance = 1; distance < nodes.size(); distance *= 2) {
      const size_t other = own ^ distance;
      const HostMembers& host = *std::ranges::find(hosts_, nodes[other].host, &HostMembers::host);
      doubling.rounds.push_back({.peer = AgentOf(host, 0), .host = host.host, .is_left = other < own});
    }
    plan_->doubling = std::move(doubling);
  }

  void PlanReduceScatter() {
    FindNodes();
    for (uint32_t position = 0; position < members().size(); ++position)
      PlanOwnedPart(position, PartOfPosition(position), /*sends_results=*/false);
  }

  // A part that the rank at one position reduces.
  void PlanOwnedPart(uint32_t position, std::vector<PartOperand> operands, bool sends_results) {
    const uint32_t owner = members()[position], owner_host = placement_.host_of[owner];
    const HostMembers& home = *std::ranges::find(hosts_, owner_host, &HostMembers::host);
    const size_t which = static_cast<size_t>(std::ranges::find(home.positions, position) - home.positions.begin());
    const bool stands = owner_host == own_host_ ? owner == rank_ : AgentOf(OwnHost(), which) == rank_;
    if (!stands) return;
    PartPlan part;
    part.part = MakePart(std::move(operands));
    if (part.part == nullptr) return;
    if (owner != rank_) {
      part.values_to = {owner};
      if (sends_results) {
        part.results_from = owner;
        part.targets = plan_->local_members;
      }
    } else {
      for (const HostMembers& host : hosts_) {
        if (host.host == own_host_) continue;
        part.values_from.push_back({AgentOf(host, which), host.host});
        if (sends_results) part.results_to.push_back(AgentOf(host, which));
      }
      part.targets = sends_results ? plan_->local_members : std::vector<uint32_t>{placement_.index_of[rank_]};
    }
    plan_->parts.push_back(std::move(part));
  }

  Move MakeMove(uint32_t peer, PackedMessage message) const {
    Move move;
    move.peer = peer;
    move.end = message.bytes();
    move.chunk_bytes = ChunkBytes(message.bytes());
    move.message = std::move(message);
    return move;
  }

  PackedMessage WholeSource() const {
    PackedMessage message;
    for (const OperandPlan& operand : plan_->base.operands)
      message.Add({.offset = operand.source_offset, .row_bytes = operand.source_bytes});
    return message;
  }

  // Where the contribution of `position` goes in a target.
  PackedMessage TargetOfPosition(uint32_t position) const {
    PackedMessage message;
    for (const OperandPlan& operand : plan_->base.operands) {
      message.Add(TargetRegion(operand.copy,
                               operand.target_offset + operand.write_offset + position * operand.copy_member_stride));
    }
    return message;
  }

  void PlanAllGather() {
    const HostMembers& own = OwnHost();
    const size_t own_which =
        static_cast<size_t>(std::ranges::find(own.positions, plan_->base.position) - own.positions.begin());
    for (const HostMembers& host : hosts_) {
      if (host.host == own_host_) continue;
      plan_->sends.push_back(MakeMove(AgentOf(host, own_which), WholeSource()));
      for (size_t which = 0; which < host.positions.size(); ++which) {
        if (AgentOf(own, which) != rank_) continue;
        const uint32_t position = host.positions[which];
        plan_->receives.push_back(MakeMove(members()[position], TargetOfPosition(position)));
        plan_->receives.back().targets = plan_->local_members;
      }
    }
  }

  // The agents of a host get a range of the whole each.
  void PlanBroadcast() {
    const uint64_t bytes = WholeSource().bytes();
    std::vector<HostMembers> hosts;  // the root's first
    std::ranges::copy_if(hosts_, std::back_inserter(hosts), [&](const HostMembers& host) { return Holds(host, 0); });
    std::ranges::copy_if(hosts_, std::back_inserter(hosts), [&](const HostMembers& host) { return !Holds(host, 0); });
    uint64_t agents = UINT64_MAX;
    for (size_t i = 1; i < hosts.size(); ++i) agents = std::min<uint64_t>(agents, hosts[i].positions.size());
    agents = std::clamp(bytes / kLeastChunk, uint64_t{1}, agents);
    const BroadcastForm form = ChooseBroadcast(bytes, static_cast<uint32_t>(hosts.size()));
    for (uint64_t which = 0; which < agents; ++which) {
      const auto agent = [&](size_t host) { return host == 0 ? members()[0] : AgentOf(hosts[host], which); };
      const uint64_t begin = ShareBegin(bytes, which, agents), end = ShareBegin(bytes, which + 1, agents);
      switch (form) {
        case BroadcastForm::kDirect:
          for (size_t host = 1; host < hosts.size(); ++host) PlanPass(agent(0), agent(host), begin, end);
          break;
        case BroadcastForm::kTree:
          for (size_t step = std::bit_floor(hosts.size() - 1); step > 0; step /= 2) {
            for (size_t host = 0; host + step < hosts.size(); host += 2 * step)
              PlanPass(agent(host), agent(host + step), begin, end);
          }
          break;
        case BroadcastForm::kSpread:
          PlanSpread(hosts, agent, begin, end);
          break;
      }
    }
  }

  template <class Agent>
  void PlanSpread(const std::vector<HostMembers>& hosts, Agent agent, uint64_t begin, uint64_t end) {
    const uint64_t others = hosts.size() - 1;
    for (size_t first = 1; first < hosts.size(); ++first) {
      const uint64_t from = begin + ShareBegin(end - begin, first - 1, others),
                     to = begin + ShareBegin(end - begin, first, others);
      PlanPass(agent(0), agent(first), from, to);
      for (size_t host = 1; host < hosts.size(); ++host) {
        if (host != first) PlanPass(agent(first), agent(host), from, to);
      }
    }
  }

  static bool Holds(const HostMembers& host, uint32_t position) {
    return std::ranges::find(host.positions, position) != host.positions.end();
  }

  // Where share `which` of `count` begins.
  static uint64_t ShareBegin(uint64_t bytes, uint64_t which, uint64_t count) {
    const uint64_t share = (bytes / count + kLine - 1) / kLine * kLine;
    return which == count ? bytes : std::min(bytes, share * which);
  }

  // A range of a broadcast goes from one rank to another. Whoever is not the root has planned to receive it before.
  void PlanPass(uint32_t from, uint32_t to, uint64_t begin, uint64_t end) {
    if ((from != rank_ && to != rank_) || begin == end) return;
    const bool sends = from == rank_;
    const bool is_root = plan_->base.position == 0;
    Move move = MakeMove(sends ? to : from, is_root ? WholeSource() : TargetOfPosition(0));
    move.begin = begin;
    move.end = end;
    if (!sends) {
      move.targets = plan_->local_members;
      move.is_passed_on = from != members()[0];
    } else if (!is_root) {
      const auto earlier = std::ranges::find(plan_->receives, begin, &Move::begin);
      move.after = static_cast<size_t>(earlier - plan_->receives.begin());
    }
    (sends ? plan_->sends : plan_->receives).push_back(std::move(move));
  }

  // The message that `reader` takes from position `sender`, in the sender's window or in the reader's.
  static PackedMessage DirectMessage(const CollectivePlan& reader, uint32_t sender, bool is_source) {
    PackedMessage message;
    for (const OperandPlan& operand : reader.operands) {
      const auto add = [&](const StridedCopy& copy, uint64_t read, uint64_t write) {
        message.Add(is_source ? SourceRegion(copy, operand.source_offset + read)
                              : TargetRegion(copy, operand.target_offset + write));
      };
      for (const MemberCopy& copy : operand.range.copies) {
        if (copy.position == sender) add(copy.copy, copy.read_offset, copy.write_offset);
      }
      if (reader.kind == CollectiveKind::kGatherRange ||
          std::ranges::find(reader.senders, sender) == reader.senders.end())
        continue;
      add(operand.copy, operand.read_offset, operand.write_offset + sender * operand.copy_member_stride);
    }
    return message;
  }

  absl::Status PlanDirect() {
    for (uint32_t position = 0; position < members().size(); ++position) {
      const uint32_t member = members()[position];
      if (placement_.host_of[member] == own_host_) continue;
      PackedMessage comes = DirectMessage(plan_->base, position, /*is_source=*/false);
      if (comes.bytes() > 0) {
        plan_->receives.push_back(MakeMove(member, std::move(comes)));
        plan_->receives.back().targets = {placement_.index_of[rank_]};
      }
      if (std::ranges::find(plan_->base.readers, member) == plan_->base.readers.end()) continue;
      absl::StatusOr<CollectivePlan> reader = MakeCollectivePlan(mesh_, spec_, member, 0, /*slot_bytes=*/0);
      if (!reader.ok()) return reader.status();
      PackedMessage goes = DirectMessage(*reader, plan_->base.position, /*is_source=*/true);
      if (goes.bytes() > 0) plan_->sends.push_back(MakeMove(member, std::move(goes)));
    }
    return absl::OkStatus();
  }

  void CountBytes() {
    if (const auto& doubling = plan_->doubling) {
      plan_->host_bytes += doubling->part->ValueBytes(0, own_host_) +
                           (doubling->rounds.size() - 1) * doubling->part->AccumulatorBytes(0);
    }
    for (const Move& move : plan_->sends) plan_->host_bytes += move.end - move.begin;
    for (const PartPlan& part : plan_->parts) {
      for (size_t chunk = 0; chunk < part.part->chunks(); ++chunk) {
        plan_->host_bytes += part.values_to.size() * part.part->ValueBytes(chunk, own_host_);
        plan_->host_bytes += part.results_to.size() * part.part->ResultBytes(chunk);
      }
    }
  }

  const Mesh& mesh_;
  const CollectiveSpec& spec_;
  const Placement& placement_;
  uint32_t rank_;
  uint32_t own_host_;
  std::vector<HostMembers> hosts_;  // by their first position
  std::unique_ptr<TwoLevelPlan> plan_ = std::make_unique<TwoLevelPlan>();
};

}  // namespace

absl::StatusOr<std::unique_ptr<TwoLevelPlan>> MakeTwoLevelPlan(const Mesh& mesh, const CollectiveSpec& spec,
                                                               const Placement& placement, uint32_t rank,
                                                               const CollectivePlan& base) {
  Planner planner(mesh, spec, placement, rank, base);
  if (!planner.SpansHosts()) return nullptr;
  return planner.Make();
}

}  // namespace sgd::comm
