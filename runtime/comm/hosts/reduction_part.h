// The part of a reduction that one rank of each host works on: which elements, cut into chunks, how a host's operands
// become the values that it sends, and how these become the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/comm/hosts/group_nodes.h"
#include "runtime/comm/kernels/reduce_kernels.h"

namespace sgd::comm {

// The part's elements of one operand, numbered through: rows of the source, and without gaps in the target.
struct PartOperand {
  const ReduceKernel* kernel = nullptr;
  uint32_t element_size = 0;
  uint64_t source_offset = 0;  // in the window, of the first element
  uint64_t target_offset = 0;
  uint64_t elements = 0;
  uint64_t row_elements = 0;       // of the source
  uint64_t source_row_stride = 0;  // bytes
};

// Elements [begin, end) of an operand of the part.
struct Piece {
  uint32_t operand = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The contents of one message.
using Chunk = std::vector<Piece>;

// Tiles for a reduction of any group; as many as it needs.
class TileScratch {
 public:
  static constexpr uint64_t kElements = 1024;
  TileScratch() : tiles_(new Tile[kAccumulators + kTreeLeaves]) {}
  std::byte* accumulator(uint32_t which) { return tiles_[which].bytes; }
  std::byte* packed(uint32_t which) { return tiles_[kAccumulators + which].bytes; }  // kTreeLeaves of them
  // Where values begin in messages; they grow to what the largest reduction needs and stay.
  std::vector<uint64_t> host_offsets, value_offsets;

 private:
  // Two walks of a tree over 2^20 positions.
  static constexpr uint32_t kAccumulators = 48;
  struct alignas(64) Tile {
    std::byte bytes[kElements * 8];
  };
  std::unique_ptr<Tile[]> tiles_;
};

class ReductionPart {
 public:
  // Chunks have about `chunk_bytes` where a host sends most. `nodes` is of the group.
  ReductionPart(std::vector<PartOperand> operands, const GroupNodes& nodes, uint64_t chunk_bytes);

  size_t chunks() const { return chunks_.size(); }
  // Returns the bytes that a host sends of a chunk before it is reduced, and of a chunk's result.
  uint64_t ValueBytes(size_t chunk, uint32_t host) const;
  uint64_t ResultBytes(size_t chunk) const;
  uint64_t MostValueBytes(uint32_t host) const;
  uint64_t MostResultBytes() const;

  // Windows of the group's ranks by position; null for ranks of other hosts.
  using Windows = absl::Span<const std::byte* const>;

  // The values of a chunk that this host sends: where they lie in a window without gaps, else null.
  const std::byte* FindValues(size_t chunk, uint32_t host, Windows windows) const;
  void MakeValues(size_t chunk, uint32_t host, Windows windows, std::byte* out, TileScratch& scratch) const;
  // Reduces a chunk from the windows of `own_host` and, by host, the values of all others, to the targets.
  void Reduce(size_t chunk, uint32_t own_host, Windows windows, absl::Span<const std::byte* const> values,
              absl::Span<std::byte* const> target_windows, TileScratch& scratch) const;

  // The same in steps, of a group that has one node per host: accumulators of a chunk's elements from the values of one
  // host; left = left op right; the result to the targets.
  uint64_t AccumulatorBytes(size_t chunk) const;
  void Accumulate(size_t chunk, uint32_t host, const std::byte* values, std::byte* accumulators) const;
  void JoinAccumulators(size_t chunk, std::byte* left, const std::byte* right) const;
  void StoreAccumulators(size_t chunk, const std::byte* accumulators, absl::Span<std::byte* const> target_windows,
                         TileScratch& scratch) const;

  // The result of a chunk within a window, or null where it has gaps; its packing and unpacking.
  std::byte* FindResult(size_t chunk, std::byte* window) const;
  void PackResult(size_t chunk, const std::byte* window, std::byte* out) const;
  void UnpackResult(size_t chunk, const std::byte* in, std::byte* window) const;

 private:
  // Bytes of what is before the next piece, or the next node's values of a piece.
  static constexpr uint64_t kAlignment = 8;
  static uint64_t Aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  void Cut(uint64_t chunk_bytes);
  // Calls visit(piece, its operand, where its accumulators begin).
  template <class Visit>
  void ForEachAccumulated(size_t chunk, Visit visit) const;
  uint32_t ValueSize(const TreeNode& node, const PartOperand& operand) const {
    return node.count == 1 ? operand.element_size : operand.kernel->accumulator_size;
  }
  // accumulator `which` = the node over `count` elements from `begin` on; uses those above it too.
  void ReduceNode(const TreeNode& node, const PartOperand& operand, uint64_t begin, uint64_t count, Windows windows,
                  uint32_t which, TileScratch& scratch) const;
  void ReducePiece(const Piece& piece, uint32_t own_host, Windows windows, absl::Span<const std::byte* const> values,
                   absl::Span<const uint64_t> value_offsets, absl::Span<std::byte* const> target_windows,
                   TileScratch& scratch) const;

  std::vector<PartOperand> operands_;
  const GroupNodes& nodes_;
  std::vector<Chunk> chunks_;
};

}  // namespace sgd::comm
