// A message of values is, piece by piece and node by node, the node's values of the piece's elements. Nodes of one
// operand are sent as they are, others as accumulators, so that rounding happens once, at the root.
#include "runtime/comm/hosts/reduction_part.h"

#include <algorithm>
#include <cstring>

#include "runtime/comm/kernels/reduction_tree.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kShortRow = 128;    // elements
constexpr uint64_t kLeastPiece = 256;  // elements; fewer are not worth a cut
constexpr uint64_t kPieceUnit = 64;    // elements

// Elements from `begin` on that are reduced at once: those of a tile, or fewer where a long row ends.
uint64_t TileElements(const PartOperand& operand, uint64_t begin, uint64_t end) {
  uint64_t count = std::min(TileScratch::kElements, end - begin);
  if (operand.row_elements >= kShortRow) count = std::min(count, operand.row_elements - begin % operand.row_elements);
  return count;
}

const std::byte* FindSource(const PartOperand& operand, uint64_t begin, uint64_t count, const std::byte* window) {
  const uint64_t row = begin / operand.row_elements, column = begin % operand.row_elements;
  if (column + count > operand.row_elements) return nullptr;
  return window + operand.source_offset + row * operand.source_row_stride + column * operand.element_size;
}

void PackSource(const PartOperand& operand, uint64_t begin, uint64_t count, const std::byte* window, std::byte* out) {
  for (uint64_t at = begin; at < begin + count;) {
    const uint64_t run = std::min(operand.row_elements - at % operand.row_elements, begin + count - at);
    std::memcpy(out, FindSource(operand, at, run, window), run * operand.element_size);
    out += run * operand.element_size;
    at += run;
  }
}

const std::byte* SourceOf(const PartOperand& operand, uint64_t begin, uint64_t count, const std::byte* window,
                          std::byte* packed) {
  if (const std::byte* found = FindSource(operand, begin, count, window)) return found;
  PackSource(operand, begin, count, window, packed);
  return packed;
}

}  // namespace

ReductionPart::ReductionPart(std::vector<PartOperand> operands, const GroupNodes& nodes, uint64_t chunk_bytes)
    : operands_(std::move(operands)), nodes_(nodes) {
  Cut(chunk_bytes);
}

void ReductionPart::Cut(uint64_t chunk_bytes) {
  uint64_t room = 0;
  for (uint32_t index = 0; index < operands_.size(); ++index) {
    const PartOperand& operand = operands_[index];
    std::vector<uint64_t> by_host;
    for (const TreeNode& node : nodes_.nodes) {
      if (node.host >= by_host.size()) by_host.resize(node.host + 1);
      by_host[node.host] += ValueSize(node, operand);
    }
    const uint64_t width = *std::ranges::max_element(by_host);
    for (uint64_t begin = 0; begin < operand.elements;) {
      const uint64_t left = operand.elements - begin;
      if (chunks_.empty() || room / width < std::min(left, kLeastPiece)) {
        chunks_.emplace_back();
        room = std::max(chunk_bytes, kLeastPiece * width);
      }
      uint64_t count = std::min(left, room / width);
      if (count < left) count = std::max(kPieceUnit, count / kPieceUnit * kPieceUnit);
      chunks_.back().push_back({index, begin, begin + count});
      room -= std::min(room, count * width + 2 * kAlignment);
      begin += count;
    }
  }
}

uint64_t ReductionPart::ValueBytes(size_t chunk, uint32_t host) const {
  uint64_t bytes = 0;
  for (const Piece& piece : chunks_[chunk]) {
    for (const TreeNode& node : nodes_.nodes) {
      if (node.host == host)
        bytes = Aligned(bytes) + (piece.end - piece.begin) * ValueSize(node, operands_[piece.operand]);
    }
  }
  return bytes;
}

uint64_t ReductionPart::ResultBytes(size_t chunk) const {
  uint64_t bytes = 0;
  for (const Piece& piece : chunks_[chunk])
    bytes = Aligned(bytes) + (piece.end - piece.begin) * operands_[piece.operand].element_size;
  return bytes;
}

uint64_t ReductionPart::MostValueBytes(uint32_t host) const {
  uint64_t most = 0;
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) most = std::max(most, ValueBytes(chunk, host));
  return most;
}

uint64_t ReductionPart::MostResultBytes() const {
  uint64_t most = 0;
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) most = std::max(most, ResultBytes(chunk));
  return most;
}

const std::byte* ReductionPart::FindValues(size_t chunk, uint32_t host, Windows windows) const {
  if (chunks_[chunk].size() != 1 || nodes_.CountOf(host) != 1) return nullptr;
  const TreeNode& node = *std::ranges::find(nodes_.nodes, host, &TreeNode::host);
  const Piece& piece = chunks_[chunk][0];
  if (node.count != 1) return nullptr;
  return FindSource(operands_[piece.operand], piece.begin, piece.end - piece.begin, windows[node.first]);
}

void ReductionPart::ReduceNode(const TreeNode& node, const PartOperand& operand, uint64_t begin, uint64_t count,
                               Windows windows, uint32_t which, TileScratch& scratch) const {
  const ReduceKernel& kernel = *operand.kernel;
  const auto reduce = [&](uint32_t first, uint32_t leaves, uint32_t target) {
    const std::byte* sources[kTreeLeaves];
    for (uint32_t i = 0; i < leaves; ++i)
      sources[i] = SourceOf(operand, begin, count, windows[node.first + first + i], scratch.packed(i));
    kernel.leaves[leaves - 1](sources, scratch.accumulator(which + target), count);
  };
  const auto join = [&](uint32_t left) {
    kernel.join(scratch.accumulator(which + left), scratch.accumulator(which + left + 1), count);
  };
  WalkReductionTree(node.count, kTreeLeaves, reduce, join);
}

void ReductionPart::MakeValues(size_t chunk, uint32_t host, Windows windows, std::byte* out,
                               TileScratch& scratch) const {
  uint64_t offset = 0;
  for (const Piece& piece : chunks_[chunk]) {
    const PartOperand& operand = operands_[piece.operand];
    for (const TreeNode& node : nodes_.nodes) {
      if (node.host != host) continue;
      offset = Aligned(offset);
      const uint64_t size = ValueSize(node, operand);
      if (node.count == 1) {
        PackSource(operand, piece.begin, piece.end - piece.begin, windows[node.first], out + offset);
      } else {
        for (uint64_t begin = piece.begin; begin < piece.end;) {
          const uint64_t count = TileElements(operand, begin, piece.end);
          ReduceNode(node, operand, begin, count, windows, 0, scratch);
          std::memcpy(out + offset + (begin - piece.begin) * size, scratch.accumulator(0), count * size);
          begin += count;
        }
      }
      offset += (piece.end - piece.begin) * size;
    }
  }
}

void ReductionPart::Reduce(size_t chunk, uint32_t own_host, Windows windows, absl::Span<const std::byte* const> values,
                           absl::Span<std::byte* const> target_windows, TileScratch& scratch) const {
  std::vector<uint64_t>&host_offsets = scratch.host_offsets, &value_offsets = scratch.value_offsets;
  host_offsets.assign(values.size(), 0);
  value_offsets.assign(nodes_.nodes.size(), 0);
  for (const Piece& piece : chunks_[chunk]) {
    for (size_t i = 0; i < nodes_.nodes.size(); ++i) {
      const TreeNode& node = nodes_.nodes[i];
      uint64_t& offset = host_offsets[node.host];
      value_offsets[i] = offset = Aligned(offset);
      offset += (piece.end - piece.begin) * ValueSize(node, operands_[piece.operand]);
    }
    ReducePiece(piece, own_host, windows, values, value_offsets, target_windows, scratch);
  }
}

void ReductionPart::ReducePiece(const Piece& piece, uint32_t own_host, Windows windows,
                                absl::Span<const std::byte* const> values, absl::Span<const uint64_t> value_offsets,
                                absl::Span<std::byte* const> target_windows, TileScratch& scratch) const {
  const PartOperand& operand = operands_[piece.operand];
  const ReduceKernel& kernel = *operand.kernel;
  for (uint64_t begin = piece.begin; begin < piece.end;) {
    const uint64_t count = TileElements(operand, begin, piece.end);
    uint32_t height = 0;
    for (const uint32_t step : nodes_.steps) {
      if (step == GroupNodes::kJoin) {
        --height;
        kernel.join(scratch.accumulator(height - 1), scratch.accumulator(height), count);
        continue;
      }
      const TreeNode& node = nodes_.nodes[step];
      if (node.host == own_host) {
        ReduceNode(node, operand, begin, count, windows, height, scratch);
      } else {
        const uint64_t size = ValueSize(node, operand);
        const std::byte* value = values[node.host] + value_offsets[step] + (begin - piece.begin) * size;
        if (node.count == 1) {
          kernel.leaves[0](&value, scratch.accumulator(height), count);
        } else {
          std::memcpy(scratch.accumulator(height), value, count * size);
        }
      }
      ++height;
    }
    const std::byte* result = scratch.accumulator(0);
    if (kernel.finish != nullptr) {
      kernel.finish(scratch.accumulator(0), scratch.packed(0), count);
      result = scratch.packed(0);
    }
    for (std::byte* window : target_windows)
      std::memcpy(window + operand.target_offset + begin * operand.element_size, result, count * operand.element_size);
    begin += count;
  }
}

std::byte* ReductionPart::FindResult(size_t chunk, std::byte* window) const {
  if (chunks_[chunk].size() != 1) return nullptr;
  const Piece& piece = chunks_[chunk][0];
  const PartOperand& operand = operands_[piece.operand];
  return window + operand.target_offset + piece.begin * operand.element_size;
}

void ReductionPart::PackResult(size_t chunk, const std::byte* window, std::byte* out) const {
  uint64_t offset = 0;
  for (const Piece& piece : chunks_[chunk]) {
    const PartOperand& operand = operands_[piece.operand];
    const uint64_t bytes = (piece.end - piece.begin) * operand.element_size;
    offset = Aligned(offset);
    std::memcpy(out + offset, window + operand.target_offset + piece.begin * operand.element_size, bytes);
    offset += bytes;
  }
}

void ReductionPart::UnpackResult(size_t chunk, const std::byte* in, std::byte* window) const {
  uint64_t offset = 0;
  for (const Piece& piece : chunks_[chunk]) {
    const PartOperand& operand = operands_[piece.operand];
    const uint64_t bytes = (piece.end - piece.begin) * operand.element_size;
    offset = Aligned(offset);
    std::memcpy(window + operand.target_offset + piece.begin * operand.element_size, in + offset, bytes);
    offset += bytes;
  }
}

}  // namespace sgd::comm
