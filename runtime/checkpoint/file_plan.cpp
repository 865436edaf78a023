// Replicas count across all files: no file needs to know of the others.
#include "runtime/checkpoint/file_plan.h"

#include <optional>
#include <utility>

#include "runtime/artifact/element_type.h"
#include "runtime/data/tensor_pieces.h"

namespace sgd::checkpoint {
namespace {

// A part of a smaller shard costs more in the file's header than it spares.
constexpr uint64_t kLeastShared = uint64_t{64} << 10;

// The part of `tensor` that its rank writes. A tensor without elements is written by rank 0, which always has it or its
// name.
std::optional<data::Region> RegionToWrite(const LocalTensor& tensor, uint32_t rank) {
  if (tensor.shard.global_bytes() == 0)
    return rank == 0 ? std::optional(data::WholeRegion(tensor.shard.type().global_dims)) : std::nullopt;
  if (tensor.replicas == 0 || !tensor.shard.has_rows()) return std::nullopt;
  const uint32_t parts = tensor.shard.local_bytes() < kLeastShared ? 1 : tensor.replicas;
  return tensor.replica < parts ? data::PartOf(data::RegionOf(tensor.shard), tensor.replica, parts) : std::nullopt;
}

}  // namespace

FilePlan PlanFile(uint32_t first_rank, uint32_t ranks, const TensorsOfRank& tensors) {
  FilePlan plan{{}, {}, StateMetadata()};
  for (uint32_t rank = first_rank; rank < first_rank + ranks; ++rank) {
    const std::vector<LocalTensor> all = tensors(rank);
    for (size_t i = 0; i < all.size(); ++i) {
      std::optional<data::Region> region = RegionToWrite(all[i], rank);
      if (!region) continue;
      const data::TensorType& type = all[i].shard.type();
      const std::string name = data::PieceName(all[i].name, rank);
      plan.metadata[name] = data::PieceText(type.global_dims, *region);
      plan.specs.push_back({name, type.element, data::DimsOf(*region)});
      plan.pieces.push_back({rank, i, *std::move(region)});
    }
  }
  return plan;
}

}  // namespace sgd::checkpoint
