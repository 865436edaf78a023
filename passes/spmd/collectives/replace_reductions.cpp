// The pass spmd-replace-reductions: patterns for reductions between ranks that a target's collectives have not. They
// are done in a wider type, or as a gather and a reduction of this rank's own.
#include "dialects/sgd/decision.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/spmd/collectives/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_REPLACEREDUCTIONSPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

bool isBitwise(ReduceKind kind) { return kind == ReduceKind::And || kind == ReduceKind::Or || kind == ReduceKind::Xor; }

/// On booleans a sum is the sum modulo 2.
bool isXor(ReduceKind kind, Type element) {
  return kind == ReduceKind::Xor || (kind == ReduceKind::Add && element.isInteger(1));
}

RankedTensorType withElement(Type type, Type element) { return cast<RankedTensorType>(type).clone(element); }

RankedTensorType withLeading(Type type, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape = {size};
  llvm::append_range(shape, tensor.getShape());
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// Queries and builders of the patterns.
struct Replacement {
  bool shortIntegers, bits;  ///< the target's collectives reduce them

  bool mustBeGathered(ReduceKind kind, Value value) const {
    Type element = getElementTypeOrSelf(value);
    return isXor(kind, element) || (isBitwise(kind) && !bits && !element.isInteger(1));
  }
  bool mustBeWidened(Value value) const { return getElementTypeOrSelf(value).isInteger(16) && !shortIntegers; }

  /// Operands that the reduction of `kind` takes; gathered ones aside.
  SmallVector<Value> widen(PatternRewriter& builder, Location loc, ReduceKind kind, ValueRange values) const {
    bool isUnsigned = kind == ReduceKind::UMax || kind == ReduceKind::UMin;
    return llvm::map_to_vector(values, [&](Value value) -> Value {
      if (!mustBeWidened(value)) return value;
      Type wide = withElement(value.getType(), builder.getI32Type());
      return isUnsigned ? arith::ExtUIOp::create(builder, loc, wide, value).getResult()
                        : arith::ExtSIOp::create(builder, loc, wide, value).getResult();
    });
  }

  /// Replaces `replaced` by `results` of a reduction of wider operands.
  static void narrow(PatternRewriter& builder, Location loc, ValueRange replaced, ValueRange results) {
    for (auto [old, result] : llvm::zip_equal(replaced, results)) {
      Value narrowed = result;
      if (old.getType() != result.getType()) narrowed = arith::TruncIOp::create(builder, loc, old.getType(), result);
      builder.replaceAllUsesWith(old, narrowed);
    }
  }

  LogicalResult replace(spmd::AllReduceOp op, PatternRewriter& builder) const {
    SmallVector<Value> values, results, gathered, combined;
    for (auto [value, result] : llvm::zip_equal(op.getInputs(), op.getResults())) {
      bool isGathered = mustBeGathered(op.getKind(), value);
      (isGathered ? gathered : values).push_back(value);
      (isGathered ? combined : results).push_back(result);
    }
    if (gathered.empty() && llvm::none_of(values, [&](Value value) { return mustBeWidened(value); })) return failure();
    if (!gathered.empty()) gatherAndReduce(builder, op, gathered, combined);
    if (!values.empty()) {
      SmallVector<Value> wide = widen(builder, op.getLoc(), op.getKind(), values);
      auto reduce = spmd::AllReduceOp::create(builder, op.getLoc(), ValueRange(wide).getTypes(), wide, op.getKind(),
                                              op.getAxes());
      mergeDecisions(reduce, {op});
      narrow(builder, op.getLoc(), results, reduce.getResults());
    }
    builder.eraseOp(op);
    return success();
  }

  static void gatherAndReduce(PatternRewriter& builder, spmd::AllReduceOp op, ArrayRef<Value> values,
                              ArrayRef<Value> replaced) {
    Location loc = op.getLoc();
    int64_t ranks = spmd::getGroupSize(op, op.getAxes()).value_or(1);
    SmallVector<Value> rows;
    SmallVector<Type> types;
    for (Value value : values) {
      rows.push_back(ReshapeOp::create(builder, loc, withLeading(value.getType(), 1), value));
      types.push_back(withLeading(value.getType(), ranks));
    }
    auto gather =
        spmd::AllGatherOp::create(builder, loc, types, rows, SmallVector<int64_t>(rows.size(), 0), op.getAxes());
    mergeDecisions(gather, {op});
    for (auto [old, all] : llvm::zip_equal(replaced, gather.getResults()))
      builder.replaceAllUsesWith(
          old, ReduceOp::create(builder, loc, old.getType(), all, op.getKind(), ArrayRef<int64_t>{0}).getResult());
  }

  LogicalResult replace(spmd::ReduceScatterOp op, PatternRewriter& builder) const {
    SmallVector<Value> values, results;
    SmallVector<int64_t> dims;
    bool isReplaced = false;
    for (auto [value, dim, result] : llvm::zip_equal(op.getInputs(), op.getDims(), op.getResults())) {
      if (mustBeGathered(op.getKind(), value)) {
        exchangeAndReduce(builder, op, value, dim, result);
        isReplaced = true;
        continue;
      }
      isReplaced |= mustBeWidened(value);
      values.push_back(value);
      results.push_back(result);
      dims.push_back(dim);
    }
    if (!isReplaced) return failure();
    if (!values.empty()) {
      SmallVector<Value> wide = widen(builder, op.getLoc(), op.getKind(), values);
      SmallVector<Type> types;
      for (auto [value, result] : llvm::zip_equal(wide, results))
        types.push_back(withElement(result.getType(), getElementTypeOrSelf(value)));
      auto scatter = spmd::ReduceScatterOp::create(builder, op.getLoc(), types, wide, op.getKind(), dims, op.getAxes());
      mergeDecisions(scatter, {op});
      narrow(builder, op.getLoc(), results, scatter.getResults());
    }
    builder.eraseOp(op);
    return success();
  }

  /// This rank gets its part of everyone's operand.
  static void exchangeAndReduce(PatternRewriter& builder, spmd::ReduceScatterOp op, Value value, int64_t dim,
                                Value replaced) {
    Location loc = op.getLoc();
    int64_t ranks = spmd::getGroupSize(op, op.getAxes()).value_or(1);
    Value row = ReshapeOp::create(builder, loc, withLeading(value.getType(), 1), value);
    auto exchange = spmd::AllToAllOp::create(builder, loc, withLeading(replaced.getType(), ranks), row, dim + 1,
                                             /*concat=*/0, op.getAxes());
    mergeDecisions(exchange, {op});
    builder.replaceAllUsesWith(replaced, ReduceOp::create(builder, loc, replaced.getType(), exchange.getResult(),
                                                          op.getKind(), ArrayRef<int64_t>{0})
                                             .getResult());
  }
};

/// Creates reductions that the target has, which must stay: each op is visited once.
template <typename Op>
struct ReplaceReduction : OpRewritePattern<Op> {
  ReplaceReduction(MLIRContext* context, Replacement replacement)
      : OpRewritePattern<Op>(context), replacement(replacement) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const final {
    return replacement.replace(op, rewriter);
  }

  Replacement replacement;
};

struct ReplaceReductionsPass : mlir::sgd::impl::ReplaceReductionsPassBase<ReplaceReductionsPass> {
  using ReplaceReductionsPassBase::ReplaceReductionsPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReplaceReduction<spmd::AllReduceOp>, ReplaceReduction<spmd::ReduceScatterOp>>(
        &getContext(), Replacement{shortIntegers, bits});
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

}  // namespace
