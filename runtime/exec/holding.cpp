// Ranks of a stage are those of a mesh without its first axis.
#include "runtime/exec/holding.h"

#include <utility>

namespace sgd::exec {

template <typename Tensor>
Holding HoldingOf(const artifact::ArtifactFile& file, const comm::Mesh& mesh, const artifact::Whole<Tensor>& whole,
                  uint32_t rank) {
  const int32_t stage = file.StageOf(rank);
  const data::TensorType type = data::TypeOf(whole, artifact::Size(file.root().stages()));
  // Other stages are cut alike: as the first one.
  const uint32_t ranks_of_stage = static_cast<uint32_t>(file.ranks_of_stage());
  data::Shard shard(type, mesh, type.is_spread() ? rank : rank % ranks_of_stage);
  // The slice of a tensor that other ranks own is another tensor's here.
  const bool is_held = whole.HolderOf(stage) != nullptr && shard.has_rows();
  const bool writes = type.is_spread() || whole.holders.front().stage == stage;
  const uint32_t replica = shard.replica();
  const uint32_t replicas = is_held && writes ? ranks_of_stage / static_cast<uint32_t>(shard.shards()) : 0;
  return {.shard = std::move(shard), .is_held = is_held, .replica = replica, .replicas = replicas};
}
template Holding HoldingOf(const artifact::ArtifactFile& file, const comm::Mesh& mesh,
                           const artifact::Whole<artifact::Input>& whole, uint32_t rank);
template Holding HoldingOf(const artifact::ArtifactFile& file, const comm::Mesh& mesh,
                           const artifact::Whole<artifact::Output>& whole, uint32_t rank);

}  // namespace sgd::exec
