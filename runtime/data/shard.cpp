// Shard arithmetic: row-major tensors, blocks of local_dims along each sharded dimension, the last
// ones possibly cut short.
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

// The shard is replicated over what the sharding leaves of each axis. The first replica is the
// lowest rank with this rank's coordinates on the sharded axes.
bool IsFirstReplica(const std::vector<comm::AxisRef>& sharded, const comm::Mesh& mesh, uint32_t rank) {
  const uint64_t mine = comm::LinearIndex(mesh, sharded, rank);
  for (uint32_t other = 0; other < rank; ++other) {
    if (comm::LinearIndex(mesh, sharded, other) == mine) return false;
  }
  return true;
}

}  // namespace

bool TensorType::operator==(const TensorType& other) const {
  if (element != other.element || global_dims != other.global_dims || local_dims != other.local_dims) return false;
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
  return type;
}

comm::Mesh MeshOf(const artifact::Artifact& artifact) {
  comm::Mesh mesh;
  for (uint64_t i = 0; i < artifact::Size(artifact.mesh()); ++i) {
    mesh.axis_sizes.push_back(artifact.mesh()->Get(i)->size());
  }
  return mesh;
}

Shard::Shard(const TensorType& type, const comm::Mesh& mesh, uint32_t rank) : type_(type) {
  std::vector<comm::AxisRef> sharded;
  for (size_t d = 0; d < type_.global_dims.size(); ++d) {
    uint64_t index = 0;
    if (d < type_.sharding.size()) {
      index = comm::LinearIndex(mesh, type_.sharding[d], rank);
      sharded.insert(sharded.end(), type_.sharding[d].begin(), type_.sharding[d].end());
    }
    const uint64_t blocks = BlocksOf(type_, d);
    if (blocks != 1) {
      global_.push_back(blocks);
      local_.push_back(blocks);
      begin_.push_back(0);
      extent_.push_back(blocks);
    }
    global_.push_back(type_.global_dims[d] / blocks);
    local_.push_back(type_.local_dims[d] / blocks);
    begin_.push_back(std::min(index * local_.back(), global_.back()));
    extent_.push_back(std::min(local_.back(), global_.back() - begin_.back()));
  }
  is_first_replica_ = IsFirstReplica(sharded, mesh, rank);
  TensorBytes(type_.element, type_.local_dims, local_bytes_);
  TensorBytes(type_.element, type_.global_dims, global_bytes_);
}

bool Shard::has_padding() const { return extent_ != local_; }

void Shard::ForEachRun(const Visit& visit) const {
  if (std::ranges::find(extent_, 0u) != extent_.end()) return;
  // Trailing dimensions that are whole on both sides belong to one run, and so does the dimension
  // before them.
  size_t run_dims = extent_.size();
  uint64_t run = artifact::ElementSize(type_.element);
  while (run_dims > 0) {
    --run_dims;
    run *= extent_[run_dims];
    if (extent_[run_dims] != global_[run_dims] || extent_[run_dims] != local_[run_dims]) break;
  }
  // `index` counts over the dimensions before run_dims; offsets are recomputed by Horner's rule for
  // each run.
  Dims index(run_dims, 0);
  while (true) {
    uint64_t global = 0;
    uint64_t local = 0;
    for (size_t d = 0; d < extent_.size(); ++d) {
      global = global * global_[d] + begin_[d] + (d < run_dims ? index[d] : 0);
      local = local * local_[d] + (d < run_dims ? index[d] : 0);
    }
    const uint64_t size = artifact::ElementSize(type_.element);
    visit(global * size, local * size, run);
    size_t d = run_dims;
    while (d > 0 && ++index[d - 1] == extent_[d - 1]) index[--d] = 0;
    if (d == 0) return;
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

}  // namespace sgd::data
