// The parts of matmuls that are compiled once per instruction set: matmuls of two panels,
// packing of panels, and the rounding of accumulators. All sets give the same bits: every element of C is
// the sum over k in order, by fused multiply-adds, whatever vectors are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/artifact/program_generated.h"

namespace sgd::cpu {

enum class InstructionSet : uint8_t { kBaseline, kAvx2, kAvx512 };

// The best one that this CPU and its operating system have.
InstructionSet BestInstructionSet();

// C[0..rows, 0..columns] = (or +=) A * B over k, then the epilogue. Elements are of the accumulator
// type; strides count them.
struct MicroTile {
  const std::byte* a;
  int64_t a_m, a_k;
  const std::byte* b;  // columns are contiguous; whole vectors of them are read
  int64_t b_k;
  uint64_t k;
  std::byte* c;
  int64_t c_m;  // columns are contiguous
  uint64_t columns;
  bool adds;                     // to what C holds
  const std::byte* column_bias;  // null: none
  const std::byte* row_bias;     // null: none
  bool relu;                     // keeps NaN
  // Pieces of memory that the caller reads soon, of at most kAheadBytes: so many at once are brought near every
  // kAheadDepth of k.
  static constexpr uint64_t kAheadBytes = 256, kAheadDepth = 32;
  const std::byte* ahead;
  uint64_t ahead_bytes, ahead_pieces, ahead_at_once;
  int64_t ahead_stride;
};

// A panel of `count` rows of A or columns of B, with strides of elements along k and across.
struct PanelSource {
  const std::byte* base;
  int64_t along_k, across;
  uint64_t k, count;
};

// `count` elements, `stride` apart.
struct StridedLine {
  const std::byte* base;
  int64_t stride;
  uint64_t count;
};

// Accumulators [rows, columns] and the elements that they are stored to, with the epilogue in between.
struct FinishedTile {
  std::byte* accumulators;  // overwritten
  uint64_t accumulators_stride;
  uint64_t rows, columns;
  std::byte* c;
  int64_t c_m, c_n;
  bool adds;
  const std::byte* column_bias;
  const std::byte* row_bias;
  bool relu;
};

struct PackedKernels {
  static constexpr uint64_t kMostRows = 14;
  static constexpr uint64_t kMostVectors = 2;

  uint64_t accumulator_size;  // bytes of the accumulator type
  bool is_direct;             // elements are of that type, so operands may be used in place
  bool has_relu;              // in matmuls; otherwise only when finishing
  uint64_t rows;              // of a matmul at most
  uint64_t vector;            // elements of a vector
  uint64_t panel_rows;        // a packed panel of A holds element (i, k) at k * panel_rows + i
  uint64_t panel_columns;     // a packed panel of B holds element (k, j) at k * panel_columns + j
  // By rows - 1 and vectors of columns - 1.
  void (*multiply[kMostRows][kMostVectors])(const MicroTile& tile);
  // By rows - 1: the same for one vector of columns with an A of its own for each column, so that an element of A is a
  // vector of them.
  void (*multiply_lanes[kMostRows])(const MicroTile& tile);
  // Widens to the accumulator type. Writes k * width elements, width being panel_rows or panel_columns;
  // what is missing becomes zero.
  void (*pack)(const PanelSource& source, uint64_t width, std::byte* target);
  // Widens a line to contiguous elements of the accumulator type.
  void (*widen)(const StridedLine& source, std::byte* target);
  // To elements, and to the accumulator type, C and biases being of the same.
  void (*finish)(const FinishedTile& tile);
  void (*finish_as_accumulators)(const FinishedTile& tile);
};

// Null for booleans. The CPU must have the instruction set.
const PackedKernels* PackedKernelsFor(InstructionSet set, artifact::ElementType element);

// The same, each from a source of its own.
const PackedKernels* BaselineKernels(artifact::ElementType element);
const PackedKernels* Avx2Kernels(artifact::ElementType element);
const PackedKernels* Avx512Kernels(artifact::ElementType element);

}  // namespace sgd::cpu
