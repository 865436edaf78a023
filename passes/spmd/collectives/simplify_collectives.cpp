// The pass spmd-simplify-collectives: rewrites of the SPMD program, each of which sends less than before. Patterns fold
// neighbours; what merges equal collectives looks at a whole block.
#include "dialects/sgd/decision.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/sharding/propagation/partial_values.h"
#include "passes/spmd/collectives/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SIMPLIFYCOLLECTIVESPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Operations that are equal but for explanation and location.
struct EqualCollectives : DenseMapInfo<Operation*> {
  static constexpr auto kIgnored = static_cast<OperationEquivalence::Flags>(
      OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs);

  static unsigned getHashValue(const Operation* op) {
    return OperationEquivalence::computeHash(const_cast<Operation*>(op), OperationEquivalence::directHashValue,
                                             OperationEquivalence::ignoreHashValue, kIgnored);
  }
  static bool isEqual(const Operation* lhs, const Operation* rhs) {
    if (lhs == rhs) return true;
    if (lhs == getEmptyKey() || lhs == getTombstoneKey() || rhs == getEmptyKey() || rhs == getTombstoneKey())
      return false;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation*>(lhs), const_cast<Operation*>(rhs), kIgnored);
  }
};

/// shard_slice(all_reduce(x)) over one group is a reduce_scatter.
struct FoldSlice : OpRewritePattern<spmd::ShardSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(spmd::ShardSliceOp slice, PatternRewriter& rewriter) const final {
    auto reduce = slice.getInput().getDefiningOp<spmd::AllReduceOp>();
    if (!reduce || reduce.getInputs().size() != 1 || !reduce->hasOneUse() || reduce.getAxes() != slice.getAxes())
      return failure();
    auto scatter = spmd::ReduceScatterOp::create(
        rewriter, slice.getLoc(), TypeRange{slice.getType()}, reduce.getInputs(), reduce.getKind(),
        ArrayRef<int64_t>{static_cast<int64_t>(slice.getDim())}, reduce.getAxes());
    mergeDecisions(scatter, {reduce, slice});
    rewriter.replaceOp(slice, scatter);
    return success();
  }
};

/// all_reduce(x) + all_reduce(y) is all_reduce(x + y).
struct FoldSum : RewritePattern {
  explicit FoldSum(MLIRContext* context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation* op, PatternRewriter& rewriter) const final {
    if (op->getNumOperands() != 2 || op->getNumResults() != 1) return failure();
    auto lhs = op->getOperand(0).getDefiningOp<spmd::AllReduceOp>(),
         rhs = op->getOperand(1).getDefiningOp<spmd::AllReduceOp>();
    if (!lhs || !rhs || lhs == rhs || lhs.getInputs().size() != 1 || rhs.getInputs().size() != 1 || !lhs->hasOneUse() ||
        !rhs->hasOneUse())
      return failure();
    if (lhs.getKind() != rhs.getKind() || lhs.getAxes() != rhs.getAxes() || !joinsPartials(op, lhs.getKind()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setOperands({lhs.getInputs()[0], rhs.getInputs()[0]}); });
    rewriter.setInsertionPointAfter(op);
    auto sum = spmd::AllReduceOp::create(rewriter, op->getLoc(), op->getResultTypes(), op->getResults(), lhs.getKind(),
                                         lhs.getAxes());
    rewriter.replaceAllUsesExcept(op->getResult(0), sum.getResult(0), sum);
    mergeDecisions(sum, {lhs, rhs});
    return success();
  }
};

/// Equal collectives become the first of them; its explanation stands: it says what is sent, once.
void mergeEqual(Block& block) {
  DenseMap<Operation*, Operation*, EqualCollectives> known;
  for (Operation& op : llvm::make_early_inc_range(block)) {
    if (!isa<spmd::SpmdDialect>(op.getDialect()) || !isPure(&op)) continue;
    auto [entry, isNew] = known.try_emplace(&op, &op);
    if (isNew) continue;
    op.replaceAllUsesWith(entry->second->getResults());
    op.erase();
  }
}

void eraseUnused(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<spmd::SpmdDialect>(op.getDialect()) && isPure(&op) && op.use_empty()) op.erase();
}

struct SimplifyCollectivesPass : mlir::sgd::impl::SimplifyCollectivesPassBase<SimplifyCollectivesPass> {
  void runOnOperation() override {
    SmallVector<Block*> blocks = getProgramBlocks(getOperation());
    // First, as an equal one elsewhere is a use that folding minds.
    for (Block* block : blocks) mergeEqual(*block);
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldSlice, FoldSum>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    for (Block* block : blocks) eraseUnused(*block);
  }
};
}  // namespace
