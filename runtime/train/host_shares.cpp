// Compares the shards of a host's ranks, tensor by tensor.
#include "runtime/train/host_shares.h"

#include <algorithm>
#include <utility>

#include "runtime/artifact/whole_program.h"
#include "runtime/exec/holding.h"

namespace sgd::train {

std::vector<checkpoint::LocalTensor> StateOf(const Job& job, uint32_t rank) {
  const comm::Mesh mesh = data::MeshOf(job.file->root());
  std::vector<checkpoint::LocalTensor> tensors;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (job.IsFed(i)) continue;
    const exec::Holding holding = exec::HoldingOf(*job.file, mesh, job.program.whole.inputs[i], rank);
    tensors.push_back({job.program.inputs[i].name, holding.shard, {}, holding.replica == 0});
    tensors.back().replica = holding.replica;
    tensors.back().replicas = holding.replicas;
  }
  return tensors;
}

std::optional<data::Shard> HeldShard(const Job& job, size_t input, uint32_t rank) {
  const artifact::Whole<artifact::Input>& whole = job.program.whole.inputs[input];
  if (whole.HolderOf(job.file->StageOf(rank)) == nullptr) return std::nullopt;
  const data::TensorType& type = job.program.inputs[input].type;
  const uint32_t ranks_of_stage = static_cast<uint32_t>(job.file->ranks_of_stage());
  data::Shard shard(type, data::MeshOf(job.file->root()), type.is_spread() ? rank : rank % ranks_of_stage);
  if (!shard.has_rows() || std::ranges::find(shard.extent(), 0u) != shard.extent().end()) return std::nullopt;
  return shard;
}

bool AreAlike(const data::Shard& a, const data::Shard& b) { return a.begin() == b.begin(); }

std::vector<Share> SharesOnHost(const Job& job, const RankRange& host, uint32_t rank) {
  std::vector<Share> shares;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (job.IsFed(i)) continue;
    Share& share = shares.emplace_back();
    const std::optional<data::Shard> own = HeldShard(job, i, rank);
    if (!own) continue;
    for (uint32_t other = host.first; other < host.first + host.count; ++other) {
      const std::optional<data::Shard> theirs = HeldShard(job, i, other);
      if (!theirs || !AreAlike(*own, *theirs)) continue;
      ++share.parts;
      share.part += other < rank;
    }
  }
  return shares;
}

std::vector<checkpoint::LocalTensor> DividedOnHost(std::vector<checkpoint::LocalTensor> state,
                                                   const std::vector<Share>& shares) {
  for (size_t i = 0; i < state.size(); ++i) {
    state[i].replica = shares[i].part;
    state[i].replicas = shares[i].parts;
  }
  return state;
}

}  // namespace sgd::train
