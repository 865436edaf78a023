// A rank's part of a tensor is its index over the axes that shard each dimension.
#include "runtime/guard/replicas.h"

#include <algorithm>
#include <map>
#include <set>

namespace sgd::guard {
namespace {

using Key = std::vector<uint64_t>;

// The stage, then an index for each dimension; empty for a rank that holds nothing.
Key KeyOf(const HeldTensor& tensor, const comm::Mesh& mesh, uint32_t ranks_of_stage, uint32_t rank) {
  const uint32_t stage = rank / ranks_of_stage;
  const bool is_held = std::ranges::any_of(tensor.holders, [&](const artifact::Holder& holder) {
    return holder.stage < 0 || static_cast<uint32_t>(holder.stage) == stage;
  });
  if (!is_held) return {};
  const data::TensorType& type = tensor.type.is_spread() ? tensor.type.stages[stage] : tensor.type;
  Key key{stage};
  for (const std::vector<comm::AxisRef>& axes : type.sharding)
    key.push_back(comm::LinearIndex(mesh, axes, tensor.type.is_spread() ? rank : rank % ranks_of_stage));
  return key;
}

std::vector<uint32_t> PartsOf(const HeldTensor& tensor, const comm::Mesh& mesh, uint32_t ranks_of_stage) {
  std::map<Key, uint32_t> numbers;
  std::vector<uint32_t> parts;
  for (uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
    const Key key = KeyOf(tensor, mesh, ranks_of_stage, rank);
    parts.push_back(key.empty() ? ReplicaClass::kNone
                                : numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second);
  }
  return parts;
}

bool HasReplicas(const std::vector<uint32_t>& parts) {
  std::set<uint32_t> seen;
  return std::ranges::any_of(parts,
                             [&](uint32_t part) { return part != ReplicaClass::kNone && !seen.insert(part).second; });
}

}  // namespace

std::vector<ReplicaClass> ClassesOf(std::span<const HeldTensor> tensors, const comm::Mesh& mesh,
                                    uint32_t ranks_of_stage) {
  std::vector<ReplicaClass> classes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<uint32_t> parts = PartsOf(tensors[i], mesh, ranks_of_stage);
    auto found = std::ranges::find(classes, parts, &ReplicaClass::parts);
    if (found == classes.end()) found = classes.insert(classes.end(), {{}, parts, HasReplicas(parts)});
    found->tensors.push_back(i);
  }
  return classes;
}

Difference FindDifference(const ReplicaClass& replicas, std::span<const uint64_t> sums) {
  std::map<uint32_t, std::vector<uint32_t>> ranks_by_part;
  for (uint32_t rank = 0; rank < replicas.parts.size(); ++rank) {
    if (replicas.parts[rank] != ReplicaClass::kNone) ranks_by_part[replicas.parts[rank]].push_back(rank);
  }
  for (const auto& [part, ranks] : ranks_by_part) {
    std::map<uint64_t, size_t> counts;
    for (uint32_t rank : ranks) ++counts[sums[rank]];
    if (counts.size() == 1) continue;
    Difference difference{.ranks = ranks, .odd = {}};
    const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
    for (uint32_t rank : ranks) {
      if (2 * most->second > ranks.size() && sums[rank] != most->first) difference.odd.push_back(rank);
    }
    return difference;
  }
  return {};
}

}  // namespace sgd::guard
