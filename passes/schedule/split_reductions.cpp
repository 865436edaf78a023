// Large reductions in two steps: first the parts of a fixed cut, which threads share and which are read in the order of
// memory, then the parts' results. The cut depends on shapes alone.
#include "passes/schedule/cluster_rules.h"
#include "passes/schedule/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "passes/schedule/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Below, one thread is done before another has begun.
constexpr int64_t kLeastElements = 1 << 16;
/// Parts of columns, and rows that are enough for threads without a cut: cluster_graph.cpp fuses rows from here on.
constexpr int64_t kParts = 32, kEnoughRows = 16;
/// Elements of a part of a row at least: 64 KiB of floats.
constexpr int64_t kPartOfRow = 16384;
/// Rows of a part of columns at least, and columns that fill vectors.
constexpr int64_t kRowsOfPart = 16, kLanes = 64;
/// Columns of one parallel iteration, as the kernels take them.
constexpr int64_t kColumns = 1024;

/// Reduced run number `run` of a pattern as parts x rest x lanes; the rest is reduced first.
struct Cut {
  size_t run;
  int64_t parts, lanes;
};

/// The divisor of `number` nearest to `wish` by ratio, at most `limit`; 1 when none is within a factor of 4.
int64_t divisorNear(int64_t number, int64_t wish, int64_t limit) {
  int64_t best = 1;
  double bestRatio = 4.001;
  for (int64_t candidate = 2; candidate <= std::min(limit, 4 * wish); ++candidate) {
    if (number % candidate != 0) continue;
    double ratio = static_cast<double>(std::max(candidate, wish)) / static_cast<double>(std::min(candidate, wish));
    if (ratio < bestRatio) best = candidate, bestRatio = ratio;
  }
  return best;
}

std::optional<Cut> cutRows(const RowPattern& pattern) {
  int64_t kept = pattern.keptElements();
  if (kept >= kEnoughRows) return std::nullopt;
  int64_t elements = kept * pattern.rowElements();
  int64_t wish = std::clamp<int64_t>(elements / kPartOfRow, 2, 4 * kParts) / kept;
  for (auto [number, run] : llvm::enumerate(pattern.runs)) {
    if (run.first) continue;
    int64_t parts = divisorNear(run.second, std::max<int64_t>(wish, 2), run.second);
    if (parts > 1) return Cut{number, parts, 1};
  }
  return std::nullopt;
}

std::optional<Cut> cutColumns(const RowPattern& pattern) {
  size_t last = pattern.runs.size() - 1;
  int64_t columns = pattern.runs[last].second, rows = pattern.runs[last - 1].second;
  int64_t blocks = pattern.keptElements() / columns * llvm::divideCeil(columns, kColumns);
  int64_t lanes = columns < kLanes ? divisorNear(rows, llvm::divideCeil(kLanes, columns), rows / kRowsOfPart) : 1;
  int64_t parts = blocks < kParts ? divisorNear(rows / lanes, kParts / blocks, rows / lanes / kRowsOfPart) : 1;
  if (lanes * parts == 1) return std::nullopt;
  return Cut{last - 1, parts, lanes};
}

std::optional<Cut> chooseCut(const RowPattern& pattern) {
  if (pattern.rowElements() == 1 || pattern.keptElements() * pattern.rowElements() < kLeastElements)
    return std::nullopt;
  return pattern.isContiguous() ? cutRows(pattern) : cutColumns(pattern);
}

void apply(ReduceOp op, const RowPattern& pattern, const Cut& cut) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  auto result = cast<RankedTensorType>(op.getResult().getType());
  Value input = op.getInput();
  bool isSum = op.getKind() == ReduceKind::Add || op.getKind() == ReduceKind::Mul;
  bool widens = isSum && (type.getElementType().isBF16() || type.getElementType().isF16());
  Type element = widens ? b.getF32Type() : type.getElementType();
  if (widens) input = arith::ExtFOp::create(b, loc, type.clone(element), input);
  SmallVector<int64_t> shape, partial, final, first, second;
  for (auto [number, run] : llvm::enumerate(pattern.runs)) {
    auto [isKept, size] = run;
    auto keep = [&](int64_t extent) { shape.push_back(extent), partial.push_back(extent); };
    if (isKept) {
      keep(size), final.push_back(size);
    } else if (number != cut.run) {
      first.push_back(shape.size()), shape.push_back(size);
    } else {
      second.push_back(partial.size()), keep(cut.parts);
      first.push_back(shape.size()), shape.push_back(size / cut.parts / cut.lanes);
      if (cut.lanes > 1) second.push_back(partial.size()), keep(cut.lanes);
    }
  }
  auto tensor = [&](ArrayRef<int64_t> dims) { return RankedTensorType::get(dims, element); };
  Value value = ReshapeOp::create(b, loc, tensor(shape), input);
  value = ReduceOp::create(b, loc, tensor(partial), value, op.getKind(), first);
  value = ReduceOp::create(b, loc, tensor(final), value, op.getKind(), second);
  value = ReshapeOp::create(b, loc, result.clone(element), value);
  if (widens) value = arith::TruncFOp::create(b, loc, result, value);
  op.getResult().replaceAllUsesWith(value);
  op.erase();
}

struct SplitReductionsPass : sgd::impl::SplitReductionsPassBase<SplitReductionsPass> {
  void runOnOperation() final {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp op) { reductions.push_back(op); });
    for (ReduceOp op : reductions) {
      RowPattern pattern = getReducePattern(op);
      if (std::optional<Cut> cut = chooseCut(pattern)) apply(op, pattern, *cut);
    }
  }
};

}  // namespace
