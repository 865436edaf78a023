// Shapes and addresses only; no arithmetic on elements.
#include "targets/cpu/device/matmul/matmul_problem.h"

#include <algorithm>
#include <utility>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"
#include "targets/cpu/device/threads/rounding.h"

namespace sgd::cpu {
namespace {

// A tile of this many multiplications takes some 60 microseconds with AVX-512: well above the cost of
// packing its operands and of waking a thread.
constexpr uint64_t kTileWork = uint64_t{1} << 23;
// Small problems are cut into a few tiles of at least this, 8 microseconds: with one thread that
// costs up to a tenth, with two it saves nearly half.
constexpr uint64_t kLeastTileWork = uint64_t{1} << 20;
constexpr uint64_t kFewTiles = 8;
// Enough for the threads of a large host; more would only cost calls.
constexpr uint64_t kMaxTiles = 256;
// Smallest useful sides of a tile, measured on AVX-512: narrower tiles read A too often, and a
// transposed B, which each tile packs anew, pays off over more rows only.
constexpr uint64_t kStepN = 128, kStepM = 64, kStepMOfTransposedB = 128;
// Relative cost of reading an element of a plain operand and of packing one of a transposed B.
constexpr uint64_t kRead = 1, kPack = 4;

using Strides = flatbuffers::Vector<int64_t>;

template <typename Byte>
MatrixView<Byte> ViewOf(Byte* base, const Strides* batch, int64_t rows, int64_t columns) {
  MatrixView<Byte> view{base, rows, columns, {}};
  for (uint64_t i = 0; i < artifact::Size(batch); ++i) view.batch[i] = batch->Get(static_cast<uint32_t>(i));
  return view;
}

template <typename Byte>
void NormalizeStrides(MatrixView<Byte>& view, uint64_t rows, uint64_t columns) {
  if (columns <= 1) view.columns = view.rows == 1 ? static_cast<int64_t>(std::max<uint64_t>(rows, 1)) : 1;
  if (rows <= 1) view.rows = view.columns == 1 ? static_cast<int64_t>(std::max<uint64_t>(columns, 1)) : 1;
}

template <typename Byte>
MatrixView<Byte> Transposed(MatrixView<Byte> view) {
  std::swap(view.rows, view.columns);
  return view;
}

// C^T = B^T A^T.
void Transpose(MatmulProblem& problem) {
  std::swap(problem.m, problem.n);
  std::swap(problem.a, problem.b);
  problem.a = Transposed(problem.a);
  problem.b = Transposed(problem.b);
  problem.c = Transposed(problem.c);
  problem.bias_per_row = problem.HasBias();
}

// Length of each of `parts` parts of a side, a multiple of `step`; the last one may be shorter.
uint64_t SideOf(uint64_t length, uint64_t parts, uint64_t step) {
  if (parts == 1) return length;
  return CeilDivide(CeilDivide(length, parts), step) * step;
}

}  // namespace

MatmulProblem ProblemOf(const artifact::Matmul& matmul, const device::MemoryMap& memory) {
  MatmulProblem problem;
  problem.element = matmul.element();
  problem.writes_accumulators = matmul.c_element().has_value();
  problem.epilogue = artifact::EpilogueOf(matmul.epilogue());
  problem.m = matmul.m();
  problem.n = matmul.n();
  problem.k = matmul.k();
  for (uint64_t i = 0; i < artifact::Size(matmul.batch_dims()); ++i) {
    problem.batch[i] = matmul.batch_dims()->Get(static_cast<uint32_t>(i));
  }
  problem.a = ViewOf<const std::byte>(memory.Address(*matmul.a()), matmul.a_batch(), matmul.a_m(), matmul.a_k());
  problem.b = ViewOf<const std::byte>(memory.Address(*matmul.b()), matmul.b_batch(), matmul.b_k(), matmul.b_n());
  problem.c = ViewOf(memory.Address(*matmul.c()), matmul.c_batch(), matmul.c_m(), matmul.c_n());
  if (matmul.bias() != nullptr) problem.bias = memory.Address(*matmul.bias());
  NormalizeStrides(problem.a, problem.m, problem.k);
  NormalizeStrides(problem.b, problem.k, problem.n);
  NormalizeStrides(problem.c, problem.m, problem.n);
  if (problem.c.columns != 1 && problem.c.rows == 1) Transpose(problem);
  return problem;
}

MatmulProblem JoinColumnBlocks(const MatmulProblem& problem) {
  const int64_t width = static_cast<int64_t>(problem.n);
  if (problem.b.columns != 1 || problem.b.rows != width || problem.c.columns != 1 || problem.HasBias()) return problem;
  for (size_t dim = 0; dim < kMaxBatchDims; ++dim) {
    if (problem.batch[dim] < 2 || problem.a.batch[dim] != 0 || problem.c.batch[dim] != width) continue;
    MatmulProblem joined = problem;
    joined.b_block = problem.b.batch[dim];
    joined.n = problem.n * problem.batch[dim];
    joined.batch[dim] = 1;
    joined.b.batch[dim] = joined.c.batch[dim] = 0;
    return joined;
  }
  return problem;
}

TileGrid::TileGrid(const MatmulProblem& problem) : batches_(problem.BatchCount()) {
  if (batches_ == 0 || problem.m == 0 || problem.n == 0) return;
  const uint64_t per_matrix = problem.m * problem.n * std::max<uint64_t>(problem.k, 1);
  const uint64_t useful = std::min(per_matrix / kLeastTileWork, std::max(per_matrix / kTileWork, kFewTiles / batches_));
  const uint64_t wanted = std::clamp<uint64_t>(useful, 1, std::max<uint64_t>(kMaxTiles / batches_, 1));
  const bool b_transposed = problem.b.columns != 1;
  const uint64_t step_m = b_transposed ? kStepMOfTransposedB : kStepM;
  const uint64_t most_rows = std::min(CeilDivide(problem.m, step_m), wanted);
  const uint64_t most_columns = std::min(CeilDivide(problem.n, kStepN), wanted);
  // The cheapest cut into at least as many tiles as are wanted, or the finest one there is.
  uint64_t cheapest = UINT64_MAX;
  for (uint64_t rows = 1; rows <= most_rows; ++rows) {
    const uint64_t columns = std::min(CeilDivide(wanted, rows), most_columns);
    if (rows * columns < wanted && rows < most_rows) continue;
    // Every row of tiles reads all of B, every column all of A.
    const uint64_t cost = rows * problem.n * (b_transposed ? kPack : kRead) + columns * problem.m * kRead;
    if (cost >= cheapest) continue;
    cheapest = cost;
    tile_m_ = SideOf(problem.m, rows, step_m);
    tile_n_ = SideOf(problem.n, columns, kStepN);
  }
  rows_ = CeilDivide(problem.m, tile_m_);
  columns_ = CeilDivide(problem.n, tile_n_);
}

StridedMatmul TileGrid::At(const MatmulProblem& problem, uint64_t index) const {
  const uint64_t column = index % columns_ * tile_n_;
  index /= columns_;
  const uint64_t row = index % rows_ * tile_m_;
  index /= rows_;
  int64_t a = static_cast<int64_t>(row) * problem.a.rows;
  int64_t b = static_cast<int64_t>(column) * problem.b.columns;
  int64_t c = static_cast<int64_t>(row) * problem.c.rows + static_cast<int64_t>(column) * problem.c.columns;
  for (size_t dim = kMaxBatchDims; dim-- > 0;) {
    const int64_t at = static_cast<int64_t>(index % problem.batch[dim]);
    index /= problem.batch[dim];
    a += at * problem.a.batch[dim];
    b += at * problem.b.batch[dim];
    c += at * problem.c.batch[dim];
  }
  const int64_t size = static_cast<int64_t>(artifact::ElementSize(problem.element));
  const int64_t c_size = static_cast<int64_t>(artifact::ElementSize(
      problem.writes_accumulators ? artifact::AccumulatorElement(problem.element) : problem.element));
  const uint64_t bias = problem.bias_per_row ? row : column;
  StridedMatmul tile;
  tile.element = problem.element;
  tile.writes_accumulators = problem.writes_accumulators;
  tile.epilogue = problem.epilogue;
  tile.m = std::min(tile_m_, problem.m - row), tile.n = std::min(tile_n_, problem.n - column), tile.k = problem.k;
  tile.a = problem.a.base + a * size, tile.a_m = problem.a.rows, tile.a_k = problem.a.columns;
  tile.b = problem.b.base + b * size, tile.b_k = problem.b.rows, tile.b_n = problem.b.columns;
  tile.c = problem.c.base + c * c_size, tile.c_m = problem.c.rows, tile.c_n = problem.c.columns;
  tile.bias = problem.HasBias() ? problem.bias + static_cast<int64_t>(bias) * c_size : nullptr;
  tile.bias_per_row = problem.bias_per_row;
  return tile;
}

}  // namespace sgd::cpu
