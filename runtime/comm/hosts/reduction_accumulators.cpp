// The steps of a reduction whose partial results go from host to host: a chunk's accumulators, piece by piece.
#include <algorithm>
#include <cstring>

#include "runtime/comm/hosts/reduction_part.h"

namespace sgd::comm {

template <class Visit>
void ReductionPart::ForEachAccumulated(size_t chunk, Visit visit) const {
  uint64_t offset = 0;
  for (const Piece& piece : chunks_[chunk]) {
    const PartOperand& operand = operands_[piece.operand];
    visit(piece, operand, offset);
    offset = Aligned(offset + (piece.end - piece.begin) * operand.kernel->accumulator_size);
  }
}

uint64_t ReductionPart::AccumulatorBytes(size_t chunk) const {
  uint64_t bytes = 0;
  ForEachAccumulated(chunk, [&](const Piece& piece, const PartOperand& operand, uint64_t offset) {
    bytes = offset + (piece.end - piece.begin) * operand.kernel->accumulator_size;
  });
  return bytes;
}

void ReductionPart::Accumulate(size_t chunk, uint32_t host, const std::byte* values, std::byte* accumulators) const {
  const TreeNode& node = *std::ranges::find(nodes_.nodes, host, &TreeNode::host);
  uint64_t at = 0;
  ForEachAccumulated(chunk, [&](const Piece& piece, const PartOperand& operand, uint64_t offset) {
    const uint64_t count = piece.end - piece.begin, bytes = count * ValueSize(node, operand);
    const std::byte* const source = values + Aligned(at);
    if (node.count == 1) {
      operand.kernel->leaves[0](&source, accumulators + offset, count);
    } else {
      std::memcpy(accumulators + offset, source, bytes);
    }
    at = Aligned(at) + bytes;
  });
}

void ReductionPart::JoinAccumulators(size_t chunk, std::byte* left, const std::byte* right) const {
  ForEachAccumulated(chunk, [&](const Piece& piece, const PartOperand& operand, uint64_t offset) {
    operand.kernel->join(left + offset, right + offset, piece.end - piece.begin);
  });
}

void ReductionPart::StoreAccumulators(size_t chunk, const std::byte* accumulators,
                                      absl::Span<std::byte* const> target_windows, TileScratch& scratch) const {
  ForEachAccumulated(chunk, [&](const Piece& piece, const PartOperand& operand, uint64_t offset) {
    for (uint64_t begin = piece.begin; begin < piece.end; begin += TileScratch::kElements) {
      const uint64_t count = std::min(TileScratch::kElements, piece.end - begin);
      const std::byte* result = accumulators + offset + (begin - piece.begin) * operand.kernel->accumulator_size;
      if (operand.kernel->finish != nullptr) {
        operand.kernel->finish(result, scratch.packed(0), count);
        result = scratch.packed(0);
      }
      for (std::byte* window : target_windows) {
        std::memcpy(window + operand.target_offset + begin * operand.element_size, result,
                    count * operand.element_size);
      }
    }
  });
}

}  // namespace sgd::comm
