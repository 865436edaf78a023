// A tiled xla.OpSharding lists devices by tile, tiles in row-major order; where several hold the same tile, the list has
// a last dimension of them.
#include "plugins/pjrt/op_sharding.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/wire.h"

namespace sgd::pjrt {
namespace {

// Of message xla.OpSharding and its enum Type.
constexpr uint32_t kType = 1, kTileDims = 3, kTileDevices = 4, kReplicateOnLast = 6;
constexpr uint64_t kReplicated = 0, kOther = 3;

}  // namespace

absl::StatusOr<std::string> OpShardingOf(const std::vector<data::Shard>& shards) {
  const data::TensorType& type = shards.front().type();
  std::string proto;
  std::vector<int64_t> tiles;
  for (size_t dim = 0; dim < type.global_dims.size(); ++dim) {
    const uint64_t global = type.global_dims[dim], local = type.local_dims[dim];
    const bool is_even = local == 0 ? global == 0 : global % local == 0;
    if (!is_even || (!type.blocks.empty() && type.blocks[dim] != 1))
      return absl::UnimplementedError(
          absl::StrCat("a tensor's dimension ", dim, " of size ", global, " is in shards of ", local,
                       ", which do not divide it; shard another dimension, or fewer ways"));
    tiles.push_back(local == 0 ? 1 : static_cast<int64_t>(global / local));
  }
  const auto count = std::accumulate(tiles.begin(), tiles.end(), int64_t{1}, std::multiplies<>());
  if (count == 1) {
    WriteInteger(proto, kType, kReplicated);
    return proto;
  }
  std::vector<std::pair<int64_t, int64_t>> ranks;  // tile and rank
  for (size_t rank = 0; rank < shards.size(); ++rank) {
    int64_t tile = 0;
    for (size_t dim = 0; dim < tiles.size(); ++dim)
      tile = tile * tiles[dim] + (type.local_dims[dim] == 0 ? 0 : static_cast<int64_t>(shards[rank].begin()[dim] / type.local_dims[dim]));
    ranks.emplace_back(tile, static_cast<int64_t>(rank));
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<int64_t> devices;
  for (const auto& [tile, rank] : ranks) devices.push_back(rank);
  const auto replicas = static_cast<int64_t>(shards.size()) / count;
  if (replicas > 1) tiles.push_back(replicas);
  WriteInteger(proto, kType, kOther);
  WritePacked(proto, kTileDims, tiles);
  WritePacked(proto, kTileDevices, devices);
  if (replicas > 1) WriteInteger(proto, kReplicateOnLast, 1);
  return proto;
}

}  // namespace sgd::pjrt
