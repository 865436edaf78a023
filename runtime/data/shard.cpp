// Shard arithmetic: row-major tensors, tiles along each sharded dimension, the last ones possibly cut short.
#include "runtime/data/shard.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/artifact/reader.h"

namespace sgd::data {
namespace {

// The axes that shard dimension `d`; axes of size 1 shard nothing.
std::vector<comm::AxisRef> AxesOf(const TensorType& type, size_t d) {
  std::vector<comm::AxisRef> axes;
  if (d >= type.sharding.size()) return axes;
  for (const comm::AxisRef& axis : type.sharding[d]) {
    if (axis.size != 1) axes.push_back(axis);
  }
  return axes;
}

uint64_t BlocksOf(const TensorType& type, size_t d) { return d < type.blocks.size() ? type.blocks[d] : 1; }

bool SameAxis(const comm::AxisRef& a, const comm::AxisRef& b) {
  return a.axis == b.axis && a.pre_size == b.pre_size && a.size == b.size;
}

uint32_t RanksOfStage(const comm::Mesh& mesh) { return mesh.ranks() / mesh.axis_sizes.front(); }

// The shard is replicated over what the sharding leaves of each axis: how many ranks from `first` on, and below this
// one, have this rank's coordinates on the sharded axes.
uint32_t ReplicaOf(const std::vector<comm::AxisRef>& sharded, const comm::Mesh& mesh, uint32_t rank, uint32_t first) {
  if (sharded.empty()) return rank - first;
  const uint64_t mine = comm::LinearIndex(mesh, sharded, rank);
  uint32_t replica = 0;
  for (uint32_t other = first; other < rank; ++other) replica += comm::LinearIndex(mesh, sharded, other) == mine;
  return replica;
}

}  // namespace

bool TensorType::operator==(const TensorType& other) const {
  if (element != other.element || global_dims != other.global_dims || local_dims != other.local_dims ||
      rows != other.rows || stages != other.stages || owner_index != other.owner_index ||
      has_summands != other.has_summands || !std::ranges::equal(owner, other.owner, SameAxis))
    return false;
  for (size_t d = 0; d < global_dims.size(); ++d) {
    if (!std::ranges::equal(AxesOf(*this, d), AxesOf(other, d), SameAxis)) return false;
    if (BlocksOf(*this, d) != BlocksOf(other, d)) return false;
  }
  return true;
}

TensorType TypeOf(const artifact::TensorInfo& info) {
  TensorType type;
  type.element = info.element();
  if (info.global_dims() != nullptr) type.global_dims.assign(info.global_dims()->begin(), info.global_dims()->end());
  if (info.local_dims() != nullptr) type.local_dims.assign(info.local_dims()->begin(), info.local_dims()->end());
  for (uint64_t d = 0; d < artifact::Size(info.sharding()); ++d) {
    std::vector<comm::AxisRef>& axes = type.sharding.emplace_back();
    const auto* dim_axes = info.sharding()->Get(d)->axes();
    for (uint64_t i = 0; i < artifact::Size(dim_axes); ++i) {
      const artifact::AxisRef* axis = dim_axes->Get(i);
      axes.push_back({axis->axis(), axis->pre_size(), axis->size()});
    }
    type.blocks.push_back(info.sharding()->Get(d)->blocks());
  }
  for (uint32_t i = 0; i < artifact::Size(info.rows()); ++i)
    type.rows.push_back({info.rows()->Get(i)->first(), info.rows()->Get(i)->count()});
  for (uint32_t i = 0; i < artifact::Size(info.owner()); ++i) {
    const artifact::AxisRef* axis = info.owner()->Get(i);
    type.owner.push_back({axis->axis(), axis->pre_size(), axis->size()});
  }
  type.owner_index = info.owner_index();
  type.has_summands = info.summands();
  return type;
}

template <typename Tensor>
TensorType TypeOf(const artifact::Whole<Tensor>& whole, size_t stages) {
  TensorType type = TypeOf(*whole.tensor->type());
  if (type.rows.empty()) return type;
  TensorType none{type.element, type.global_dims, {}, {}};
  std::vector<TensorType> all(stages, none);
  for (size_t i = 0; i < whole.holders.size(); ++i)
    all[static_cast<size_t>(whole.holders[i].stage)] = TypeOf(*whole.tensors[i]->type());
  type.rows.clear();
  type.stages = std::move(all);
  return type;
}
template TensorType TypeOf(const artifact::Whole<artifact::Input>& whole, size_t stages);
template TensorType TypeOf(const artifact::Whole<artifact::Output>& whole, size_t stages);

comm::Mesh MeshOf(const artifact::Artifact& artifact) {
  comm::Mesh mesh;
  for (uint64_t i = 0; i < artifact::Size(artifact.mesh()); ++i) {
    mesh.axis_sizes.push_back(artifact.mesh()->Get(i)->size());
  }
  return mesh;
}

Shard::Shard(const TensorType& type, const comm::Mesh& mesh, uint32_t rank) {
  const uint32_t stage = type.is_spread() ? rank / RanksOfStage(mesh) : 0;
  type_ = type.is_spread() ? type.stages[stage] : type;
  TensorBytes(type_.element, type_.global_dims, global_bytes_);
  const bool is_owner = comm::LinearIndex(mesh, type_.owner, rank) == type_.owner_index;
  if ((type.is_spread() && type_.rows.empty()) || !is_owner) return;
  std::vector<comm::AxisRef> sharded = type_.owner;
  for (size_t d = 0; d < type_.global_dims.size(); ++d) {
    uint64_t index = 0;
    if (d < type_.sharding.size()) {
      index = comm::LinearIndex(mesh, type_.sharding[d], rank);
      sharded.insert(sharded.end(), type_.sharding[d].begin(), type_.sharding[d].end());
    }
    dims_.push_back({type_.local_dims[d], {}});
    const uint64_t shards = comm::AxesSize(AxesOf(type_, d));
    if (d == 0 && !type_.rows.empty()) {
      AddRows(shards, index);
    } else {
      AddBlocks(d, shards, index);
    }
    begin_.push_back(dims_[d].ranges.front().begin);
    extent_.push_back(dims_[d].ranges.front().extent);
  }
  replica_ = ReplicaOf(sharded, mesh, rank, stage * (type.is_spread() ? RanksOfStage(mesh) : 0));
  shards_ = comm::AxesSize(sharded);
  has_rows_ = true;
  TensorBytes(type_.element, type_.local_dims, local_bytes_);
}

// Pieces that follow one another on both sides are one.
void Shard::AddPiece(HeldDim& dim, const HeldRange& piece) {
  HeldRange* last = dim.ranges.empty() ? nullptr : &dim.ranges.back();
  if (last != nullptr && piece.begin == last->begin + last->extent && piece.local == last->local + last->extent) {
    last->extent += piece.extent;
  } else if (last == nullptr || piece.extent != 0) {
    dim.ranges.push_back(piece);
  }
}

// The rank is number `index` of `shards` that have a tile of each range.
void Shard::AddRows(uint64_t shards, uint64_t index) {
  uint64_t local = 0;
  for (const RowRange& range : type_.rows) {
    const uint64_t tile = (range.count + shards - 1) / shards;
    const uint64_t begin = std::min(index * tile, range.count);
    AddPiece(dims_[0], {range.first + begin, std::min(tile, range.count - begin), local});
    local += tile;
  }
}

// The rank is number `index` of `shards` that have a tile of each block: tile k * shards + index of the dimension is
// tile k of the rank.
void Shard::AddBlocks(size_t d, uint64_t shards, uint64_t index) {
  const uint64_t tile = type_.local_dims[d] / BlocksOf(type_, d);
  const uint64_t blocks = tile == 0 ? 1 : BlocksOf(type_, d);  // of nothing there may be any number
  for (uint64_t block = 0; block < blocks; ++block) {
    const uint64_t begin = std::min((block * shards + index) * tile, type_.global_dims[d]);
    AddPiece(dims_[d], {begin, std::min(tile, type_.global_dims[d] - begin), block * tile});
  }
}

bool Shard::has_padding() const {
  return std::ranges::any_of(dims_, [](const HeldDim& dim) {
    uint64_t size = 0;
    for (const HeldRange& piece : dim.ranges) size += piece.extent;
    return size != dim.size;
  });
}

bool Shard::IsWhole(size_t d) const {
  const HeldDim& dim = dims_[d];
  return dim.ranges.size() == 1 && dim.ranges[0].extent == type_.global_dims[d] && dim.size == type_.global_dims[d];
}

void Shard::ForEachRun(const Visit& visit) const {
  if (!has_rows_) return;
  // Trailing dimensions that are whole on both sides belong to one run, and so does the dimension before them.
  size_t last = dims_.size();
  uint64_t run = artifact::ElementSize(type_.element);
  while (last > 1 && IsWhole(last - 1)) run *= type_.global_dims[--last];
  if (dims_.empty()) return visit(0, 0, run);
  Walk(0, last - 1, {0, 0, run}, visit);
}

// `at` counts elements of the dimensions before `d`.
void Shard::Walk(size_t d, size_t last, const Place& at, const Visit& visit) const {
  const HeldDim& dim = dims_[d];
  for (const HeldRange& piece : dim.ranges) {
    const uint64_t global = at.global * type_.global_dims[d] + piece.begin, local = at.local * dim.size + piece.local;
    if (d == last) {
      if (piece.extent * at.run != 0) visit(global * at.run, local * at.run, piece.extent * at.run);
      continue;
    }
    for (uint64_t i = 0; i < piece.extent; ++i) Walk(d + 1, last, {global + i, local + i, at.run}, visit);
  }
}

void Shard::CopyIn(std::span<const std::byte> global, std::span<std::byte> local) const {
  if (has_padding()) std::memset(local.data(), 0, local_bytes_);
  ForEachRun(
      [&](uint64_t from, uint64_t to, uint64_t bytes) { std::memcpy(local.data() + to, global.data() + from, bytes); });
}

void Shard::CopyOut(std::span<const std::byte> local, std::span<std::byte> global) const {
  ForEachRun(
      [&](uint64_t to, uint64_t from, uint64_t bytes) { std::memcpy(global.data() + to, local.data() + from, bytes); });
}

void Shard::ForEachRunOfPart(uint64_t part, uint64_t parts, const Visit& visit) const {
  // Whole cache lines, so that no two replicas write to the same one.
  constexpr uint64_t kLine = 64;
  const uint64_t lines = (local_bytes_ + kLine - 1) / kLine;
  const uint64_t begin = lines * part / parts * kLine, end = lines * (part + 1) / parts * kLine;
  ForEachRun([&](uint64_t to, uint64_t from, uint64_t bytes) {
    const uint64_t first = std::max(from, begin), last = std::min(from + bytes, end);
    if (first < last) visit(to + (first - from), first, last - first);
  });
}

void Shard::CopyOutPart(uint64_t part, uint64_t parts, std::span<const std::byte> local,
                        std::span<std::byte> global) const {
  ForEachRunOfPart(part, parts, [&](uint64_t to, uint64_t from, uint64_t bytes) {
    std::memcpy(global.data() + to, local.data() + from, bytes);
  });
}

}  // namespace sgd::data
