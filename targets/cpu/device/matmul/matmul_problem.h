// A matrix multiplication with resolved addresses, and the grid of tiles it is cut into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/artifact/program_generated.h"
#include "runtime/device/device.h"
#include "runtime/library/epilogue.h"
#include "targets/cpu/device/matmul/packed_matmul.h"

namespace sgd::cpu {

inline constexpr size_t kMaxBatchDims = 4;

// A strided matrix per batch index; strides are in elements.
template <typename Byte>
struct MatrixView {
  Byte* base = nullptr;
  int64_t rows = 0;     // stride from one row to the next
  int64_t columns = 0;  // stride from one column to the next
  std::array<int64_t, kMaxBatchDims> batch{};
};

// C[b, i, j] = sum over k of A[b, i, k] * B[b, k, j], then the epilogue; see Matmul in program.fbs.
struct MatmulProblem {
  artifact::ElementType element{};
  bool writes_accumulators = false;  // C and bias are of the accumulator type
  library::Epilogue epilogue;
  uint64_t m = 0, n = 0, k = 0;
  std::array<uint64_t, kMaxBatchDims> batch{1, 1, 1, 1};
  MatrixView<const std::byte> a, b;
  MatrixView<std::byte> c;
  // Elements from one block of columns of B to the next; 0: columns are at equal strides. A block has as many columns
  // as one of its rows has elements, and rows follow each other.
  int64_t b_block = 0;
  const std::byte* bias = nullptr;  // null without one
  bool bias_per_row = false;        // the bias has m elements instead of n

  uint64_t BatchCount() const { return batch[0] * batch[1] * batch[2] * batch[3]; }
  bool HasBias() const { return bias != nullptr; }
};

// Resolves a verified instruction. Strides of dimensions of size 1, which never matter, are made to
// look like a plain row-major or column-major matrix; a C whose columns are contiguous is turned
// into the matmul of the transposed operands.
MatmulProblem ProblemOf(const artifact::Matmul& matmul, const device::MemoryMap& memory);

// The same matmul with one batch dimension less, where that numbers blocks of columns of B for one A, and their results
// are side by side in C.
MatmulProblem JoinColumnBlocks(const MatmulProblem& problem);

// Cuts the batch of matrices into tiles. It depends on shapes alone, never on threads, so that bits
// do not either.
class TileGrid {
 public:
  explicit TileGrid(const MatmulProblem& problem);

  uint64_t size() const { return batches_ * rows_ * columns_; }
  // Tiles have these extents, or what is left at the last row and column of tiles.
  uint64_t tile_m() const { return tile_m_; }
  uint64_t tile_n() const { return tile_n_; }
  // The matmul of one tile.
  StridedMatmul At(const MatmulProblem& problem, uint64_t index) const;

 private:
  uint64_t batches_ = 0;
  uint64_t rows_ = 0, columns_ = 0;  // of tiles, per matrix
  uint64_t tile_m_ = 1, tile_n_ = 1;
};

}  // namespace sgd::cpu
