// The ranks of a tile that hold the same value are numbered: the first ones with each summand are group 0, and so on.
// A tiled xla.OpSharding lists devices by tile, tiles in row-major order; where several hold the same tile, the list
// has a last dimension of them.
#include "plugins/pjrt/op_sharding.h"

#include <algorithm>
#include <compare>
#include <map>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/wire.h"

namespace sgd::pjrt {
namespace {

// Of message xla.OpSharding and its enum Type.
constexpr uint32_t kType = 1, kTileDims = 3, kTileDevices = 4, kReplicateOnLast = 6, kLastTileDims = 8;
constexpr int64_t kReplicated = 0, kOther = 3, kUnreduced = 6;

size_t FirstDim(const data::TensorType& type) { return type.has_summands ? 1 : 0; }

// The tile that a rank holds, in row-major order.
int64_t TileOf(const data::Shard& shard) {
  const data::TensorType& type = shard.type();
  int64_t tile = 0;
  for (size_t dim = FirstDim(type); dim < type.global_dims.size(); ++dim) {
    const uint64_t local = type.local_dims[dim];
    if (local != 0)
      tile =
          tile * static_cast<int64_t>(type.global_dims[dim] / local) + static_cast<int64_t>(shard.begin()[dim] / local);
  }
  return tile;
}

struct Place {
  int64_t tile, replica, summand;
  uint32_t rank;
  auto operator<=>(const Place&) const = default;
};

std::vector<Place> PlacesOf(const std::vector<data::Shard>& shards) {
  std::vector<Place> places;
  std::map<std::pair<int64_t, int64_t>, int64_t> replicas;
  for (uint32_t rank = 0; rank < shards.size(); ++rank) {
    const int64_t tile = TileOf(shards[rank]);
    const int64_t summand = shards[rank].type().has_summands ? static_cast<int64_t>(shards[rank].begin()[0]) : 0;
    places.push_back({tile, replicas[{tile, summand}]++, summand, rank});
  }
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

absl::StatusOr<std::string> OpShardingOf(const std::vector<data::Shard>& shards) {
  const data::TensorType& type = shards.front().type();
  std::string proto;
  std::vector<int64_t> tiles;
  for (size_t dim = FirstDim(type); dim < type.global_dims.size(); ++dim) {
    const uint64_t global = type.global_dims[dim], local = type.local_dims[dim];
    // The division alone does not tell: of a size of 1, one shard has all.
    const bool is_even =
        (local == 0 ? global == 0 : global % local == 0) &&
        std::ranges::all_of(shards, [&](const data::Shard& shard) { return shard.begin()[dim] + local <= global; });
    if (!is_even || (!type.blocks.empty() && type.blocks[dim] != 1))
      return absl::UnimplementedError(absl::StrCat("a tensor's dimension ", dim, " of size ", global,
                                                   " is in shards of ", local,
                                                   ", which do not divide it; shard another dimension, or fewer ways"));
    tiles.push_back(local == 0 ? 1 : static_cast<int64_t>(global / local));
  }
  const auto count = std::accumulate(tiles.begin(), tiles.end(), int64_t{1}, std::multiplies<>());
  const int64_t parts = type.has_summands ? static_cast<int64_t>(type.global_dims[0]) : 1;
  if (count == 1 && parts == 1) return ReplicatedSharding();
  std::vector<int64_t> devices;
  for (const Place& place : PlacesOf(shards)) devices.push_back(place.rank);
  const int64_t replicas = static_cast<int64_t>(shards.size()) / count / parts;
  std::vector<int64_t> last;  // what the dimensions behind those of the tensor are
  if (replicas > 1) last.push_back(kReplicated);
  if (replicas > 1) tiles.push_back(replicas);
  if (parts > 1) last.push_back(kUnreduced);
  if (parts > 1) tiles.push_back(parts);
  WriteInteger(proto, kType, kOther);
  WritePacked(proto, kTileDims, tiles);
  WritePacked(proto, kTileDevices, devices);
  if (parts > 1) WritePacked(proto, kLastTileDims, last);
  if (parts == 1 && replicas > 1) WriteInteger(proto, kReplicateOnLast, 1);
  return proto;
}

std::string ReplicatedSharding() {
  std::string proto;
  WriteInteger(proto, kType, kReplicated);
  return proto;
}

}  // namespace sgd::pjrt
