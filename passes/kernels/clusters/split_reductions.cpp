// The pass sgd-split-reductions: a pattern that reduces large tensors in two steps: first the parts of a fixed cut,
// which threads share and which are read in the order of memory, then the parts' results. The cut depends on shapes
// alone.
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/kernels/clusters/cluster_rules.h"
#include "passes/kernels/clusters/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "passes/kernels/clusters/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Below, one thread is done before another has begun.
constexpr int64_t kLeastElements = 1 << 16;
/// Rows that are enough for threads without a cut: cluster_graph.cpp fuses rows from here on.
constexpr int64_t kEnoughRows = 16;
/// Elements of a part of a row at least: 64 KiB of floats.
constexpr int64_t kPartOfRow = 16384;
/// Rows of a part of columns at least, and columns that fill vectors.
constexpr int64_t kRowsOfPart = 16, kLanes = 64;

/// The work of a target's workers, as the pass's options say.
struct Workers {
  int64_t parts, columns;
};

/// Reduced run number `run` of a pattern as parts x rest x lanes; the rest is reduced first. `left` elements at the end
/// of the run belong to no part and are reduced by themselves.
struct Cut {
  size_t run;
  int64_t parts, lanes, left = 0;
};

/// The divisor of `number` nearest to `target` by ratio, at most `limit`; 1 when none is within a factor of 4.
int64_t divisorNear(int64_t number, int64_t target, int64_t limit) {
  int64_t best = 1;
  double bestRatio = 4.001;
  for (int64_t candidate = 2; candidate <= std::min(limit, 4 * target); ++candidate) {
    if (number % candidate != 0) continue;
    double ratio = static_cast<double>(std::max(candidate, target)) / static_cast<double>(std::min(candidate, target));
    if (ratio < bestRatio) best = candidate, bestRatio = ratio;
  }
  return best;
}

std::optional<Cut> cutRows(const RowPattern& pattern, const Workers& workers) {
  int64_t kept = pattern.keptElements();
  if (kept >= kEnoughRows) return std::nullopt;
  int64_t elements = kept * pattern.rowElements();
  int64_t target = std::clamp<int64_t>(elements / kPartOfRow, 2, 4 * workers.parts) / kept;
  target = std::max<int64_t>(target, 2);
  std::optional<Cut> uneven;
  for (auto [number, run] : llvm::enumerate(pattern.runs)) {
    auto [isKept, size] = run;
    if (isKept) continue;
    int64_t parts = divisorNear(size, target, size);
    if (parts > 1) return Cut{number, parts, 1};
    if (size >= target * target) uneven = Cut{number, target, 1, size % target};
  }
  return uneven;
}

std::optional<Cut> cutColumns(const RowPattern& pattern, const Workers& workers) {
  size_t last = pattern.runs.size() - 1;
  int64_t columns = pattern.runs[last].second, rows = pattern.runs[last - 1].second;
  int64_t blocks = pattern.keptElements() / columns * llvm::divideCeil(columns, workers.columns);
  int64_t lanes = columns < kLanes ? divisorNear(rows, llvm::divideCeil(kLanes, columns), rows / kRowsOfPart) : 1;
  int64_t parts =
      blocks < workers.parts ? divisorNear(rows / lanes, workers.parts / blocks, rows / lanes / kRowsOfPart) : 1;
  if (lanes * parts == 1) return std::nullopt;
  return Cut{last - 1, parts, lanes};
}

std::optional<Cut> chooseCut(const RowPattern& pattern, const Workers& workers) {
  if (pattern.rowElements() == 1 || pattern.keptElements() * pattern.rowElements() < kLeastElements)
    return std::nullopt;
  return pattern.isContiguous() ? cutRows(pattern, workers) : cutColumns(pattern, workers);
}

/// Builds the steps of one reduction, in the element type that they accumulate in.
class Splitter {
 public:
  Splitter(ReduceOp op, const RowPattern& pattern, const Cut& cut, PatternRewriter& rewriter)
      : op(op), pattern(pattern), cut(cut), b(rewriter), loc(op.getLoc()) {}

  void run() {
    auto result = cast<RankedTensorType>(op.getResult().getType());
    Value input = widen(op.getInput());
    Type element = cast<RankedTensorType>(input.getType()).getElementType();
    int64_t size = pattern.runs[cut.run].second;
    if (cut.left > 0)
      input = reshape(input, llvm::map_to_vector(pattern.runs, [](const auto& run) { return run.second; }));
    Value value = reduceParts(take(input, 0, size - cut.left), size - cut.left);
    if (cut.left > 0)
      value = createCombiner(b, loc, op.getKind(), value, reduceRest(take(input, size - cut.left, size)));
    value = reshape(value, result.getShape());
    if (element != result.getElementType()) value = arith::TruncFOp::create(b, loc, result, value);
    b.replaceOp(op, value);
  }

 private:
  /// Sums of f16 and bf16 accumulate in f32 and round once.
  Value widen(Value input) {
    auto type = cast<RankedTensorType>(input.getType());
    bool isSum = op.getKind() == ReduceKind::Add || op.getKind() == ReduceKind::Mul;
    if (!isSum || !(type.getElementType().isBF16() || type.getElementType().isF16())) return input;
    return arith::ExtFOp::create(b, loc, type.clone(b.getF32Type()), input);
  }

  Value reshape(Value input, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(input.getType());
    return type.getShape() == shape ? input : ReshapeOp::create(b, loc, type.clone(shape), input).getResult();
  }

  /// Elements [begin, end) of the run that is cut; all of them without a rest, whatever the input's shape.
  Value take(Value input, int64_t begin, int64_t end) {
    if (cut.left == 0) return input;
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1),
        shape(type.getShape());
    starts[cut.run] = begin, limits[cut.run] = end, shape[cut.run] = end - begin;
    return SliceOp::create(b, loc, type.clone(shape), input, starts, limits, strides);
  }

  Value reduce(Value input, ArrayRef<int64_t> dims) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim))) shape.push_back(size);
    return ReduceOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()), input, op.getKind(), dims);
  }

  /// The run of the cut has `size` elements, which the parts divide.
  Value reduceParts(Value input, int64_t size) {
    SmallVector<int64_t> shape, first, second;
    int64_t partial = 0;  // rank after the first step
    for (auto [number, run] : llvm::enumerate(pattern.runs)) {
      if (run.first) {
        shape.push_back(run.second), ++partial;
      } else if (number != cut.run) {
        first.push_back(shape.size()), shape.push_back(run.second);
      } else {
        second.push_back(partial++), shape.push_back(cut.parts);
        first.push_back(shape.size()), shape.push_back(size / cut.parts / cut.lanes);
        if (cut.lanes > 1) second.push_back(partial++), shape.push_back(cut.lanes);
      }
    }
    return reduce(reduce(reshape(input, shape), first), second);
  }

  Value reduceRest(Value input) {
    SmallVector<int64_t> dims;
    for (auto [number, run] : llvm::enumerate(pattern.runs))
      if (!run.first) dims.push_back(number);
    return reduce(input, dims);
  }

  ReduceOp op;
  const RowPattern& pattern;
  const Cut& cut;
  PatternRewriter& b;
  Location loc;
};

/// The steps are reductions as well, and stay: each op is visited once.
struct SplitReduction : OpRewritePattern<ReduceOp> {
  SplitReduction(MLIRContext* context, Workers workers) : OpRewritePattern(context), workers(workers) {}

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter& rewriter) const final {
    RowPattern pattern = getReducePattern(op);
    std::optional<Cut> cut = chooseCut(pattern, workers);
    if (!cut) return failure();
    Splitter(op, pattern, *cut, rewriter).run();
    return success();
  }

  Workers workers;
};

struct SplitReductionsPass : mlir::sgd::impl::SplitReductionsPassBase<SplitReductionsPass> {
  using SplitReductionsPassBase::SplitReductionsPassBase;

  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitReduction>(&getContext(), Workers{parts, columns});
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

}  // namespace
