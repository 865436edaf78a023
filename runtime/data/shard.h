// The part of a global tensor that one rank holds, and copies between the two; knows nothing of
// files or steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/comm/collectives/mesh.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {

// Indices [first, first + count) of dimension 0.
struct RowRange {
  uint64_t first = 0;
  uint64_t count = 0;
  bool operator==(const RowRange&) const = default;
};

// A tensor as the artifact declares it: `sharding` has one list of axes per dimension or is empty
// (replicated), and so has `blocks` the number of blocks of each, of which every rank has a tile (see Shard).
// Of a tensor that is spread over the stages of a pipeline, the coordinates of the mesh's first axis, each stage has
// rows of its own, each range of which is sharded by itself: `stages` says which, and how. All else is the first
// stage's. Of a tensor with owners, the ranks whose linear index over the axes `owner` is `owner_index` hold their
// shards, and others nothing.
struct TensorType {
  ElementType element = ElementType::F32;
  Dims global_dims;
  Dims local_dims;
  std::vector<std::vector<comm::AxisRef>> sharding;
  Dims blocks{};
  std::vector<RowRange> rows{};      // of one stage; empty: all
  std::vector<TensorType> stages{};  // those without rows have a type without local dimensions
  std::vector<comm::AxisRef> owner{};
  uint64_t owner_index = 0;
  bool has_summands = false;  // dimension 0 counts the summands of a tensor of the other dimensions

  bool is_spread() const { return !stages.empty(); }

  // Equal tensors, cut alike.
  bool operator==(const TensorType& other) const;
};

// From a verified artifact: of one stage.
TensorType TypeOf(const artifact::TensorInfo& info);
// Of all stages.
template <typename Tensor>
TensorType TypeOf(const artifact::Whole<Tensor>& whole, size_t stages);
comm::Mesh MeshOf(const artifact::Artifact& artifact);

// Global indices [begin, begin + extent) of a dimension, at `local` of what holds them.
struct HeldRange {
  uint64_t begin = 0;
  uint64_t extent = 0;
  uint64_t local = 0;
};

// The held part of a dimension: of `size` indices there, padding included, those of the global tensor.
struct HeldDim {
  uint64_t size = 0;
  std::vector<HeldRange> ranges;  // one or more, in ascending order
};

// The part of the global tensor that a rank holds. A dimension is in tiles of equal size, the last of which may end in
// padding or hold nothing else. Sharded over n ranks, in b blocks (the parts that a step computes one after the other),
// it has b * n tiles: rank r holds tiles r, n + r, 2 * n + r, ..., one behind the other. With 16 rows, 5 ranks and 2
// blocks, tiles are of 2 rows:
//
//   rank     0        1        2        3      4
//   block 0  0 1      2 3      4 5      6 7    8 9
//   block 1  10 11    12 13    14 15    - -    - -
//
// Of a tensor that is spread over stages, a rank holds a tile of each of the stage's ranges of rows.
class Shard {
 public:
  // Of a tensor that each stage of a pipeline has alike, `rank` counts within the stage.
  Shard(const TensorType& type, const comm::Mesh& mesh, uint32_t rank);

  const TensorType& type() const { return type_; }
  // By dimension, the global indices [begin, begin + extent) that the first tile holds, or the first several where they
  // follow one another.
  const Dims& begin() const { return begin_; }
  const Dims& extent() const { return extent_; }

  // The held part of each dimension; nothing without rows.
  const std::vector<HeldDim>& held() const { return dims_; }

  // True on one of the ranks that hold this shard, the first on the axes over which it is
  // replicated: that one writes it to files.
  bool is_first_replica() const { return has_rows_ && replica_ == 0; }
  // This rank's number among those that hold this shard, in ascending order.
  uint32_t replica() const { return replica_; }
  // How many different shards the tensor has, or a stage's part of it.
  uint64_t shards() const { return shards_; }
  bool has_padding() const;
  // Whether there is anything: a stage may have no rows of a tensor that is spread, and a rank may be no owner.
  bool has_rows() const { return has_rows_; }

  uint64_t local_bytes() const { return local_bytes_; }
  uint64_t global_bytes() const { return global_bytes_; }

  // Calls `visit(global_offset, local_offset, bytes)` for each run that is contiguous in both, in
  // ascending order. Offsets in bytes.
  using Visit = std::function<void(uint64_t global_offset, uint64_t local_offset, uint64_t bytes)>;
  void ForEachRun(const Visit& visit) const;

  // The same for part `part` of `parts` of the shard, parts of about equal size: for replicas that share the work.
  void ForEachRunOfPart(uint64_t part, uint64_t parts, const Visit& visit) const;

  // Fills the local shard from the global tensor; padding becomes zero.
  void CopyIn(std::span<const std::byte> global, std::span<std::byte> local) const;
  // Puts the local shard, without its padding, where it belongs in the global tensor.
  void CopyOut(std::span<const std::byte> local, std::span<std::byte> global) const;
  // The same for a part of it (ForEachRunOfPart).
  void CopyOutPart(uint64_t part, uint64_t parts, std::span<const std::byte> local, std::span<std::byte> global) const;

 private:
  // Elements before a dimension, and bytes of an element of the last dimension that is walked.
  struct Place {
    uint64_t global = 0;
    uint64_t local = 0;
    uint64_t run = 0;
  };

  static void AddPiece(HeldDim& dim, const HeldRange& piece);
  // Whether dimension `d` is that of the global tensor.
  bool IsWhole(size_t d) const;
  void AddRows(uint64_t shards, uint64_t index);
  void AddBlocks(size_t d, uint64_t shards, uint64_t index);
  void Walk(size_t d, size_t last, const Place& at, const Visit& visit) const;

  TensorType type_;
  std::vector<HeldDim> dims_;
  Dims begin_;
  Dims extent_;
  bool has_rows_ = false;
  uint32_t replica_ = 0;
  uint64_t shards_ = 1;
  uint64_t local_bytes_ = 0;
  uint64_t global_bytes_ = 0;
};

}  // namespace sgd::data
