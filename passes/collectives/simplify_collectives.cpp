// The pass spmd-simplify-collectives: rewrites of the SPMD program, each of which sends less than before. One sweep
// over each block in program order, which remembers the collectives that it has met.
#include "passes/collectives/explanation.h"
#include "passes/collectives/passes.h"
#include "passes/sharding/partial_values.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SIMPLIFYCOLLECTIVESPASS
#include "passes/collectives/passes.h.inc"
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

struct SimplifyCollectivesPass : mlir::sgd::impl::SimplifyCollectivesPassBase<SimplifyCollectivesPass> {
  void runOnOperation() override {
    for (Block* program : getProgramBlocks(getOperation())) {
      Block& block = *program;
      DenseMap<Operation*, Operation*, EqualCollectives> known;
      for (Operation& op : llvm::make_early_inc_range(block)) {
        if (foldSlice(&op) || foldSum(&op)) continue;
        if (isa<spmd::SpmdDialect>(op.getDialect())) mergeEqual(&op, known);
      }
      for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isa<spmd::SpmdDialect>(op.getDialect()) && op.use_empty()) op.erase();
    }
  }

  void mergeEqual(Operation* op, DenseMap<Operation*, Operation*, EqualCollectives>& known) {
    auto [entry, isNew] = known.try_emplace(op, op);
    if (isNew) return;
    // The first one's explanation stands: it says what is sent, once.
    op->replaceAllUsesWith(entry->second->getResults());
    op->erase();
  }

  /// shard_slice(all_reduce(x)) over one group is a reduce_scatter.
  bool foldSlice(Operation* op) {
    auto slice = dyn_cast<spmd::ShardSliceOp>(op);
    auto reduce = slice ? slice.getInput().getDefiningOp<spmd::AllReduceOp>() : spmd::AllReduceOp();
    if (!reduce || reduce.getInputs().size() != 1 || !slice.getInput().hasOneUse() ||
        reduce.getAxes() != slice.getAxes())
      return false;
    OpBuilder builder(op);
    auto scatter = spmd::ReduceScatterOp::create(
        builder, op->getLoc(), TypeRange{slice.getType()}, reduce.getInputs(), reduce.getKind(),
        ArrayRef<int64_t>{static_cast<int64_t>(slice.getDim())}, reduce.getAxes());
    mergeExplanations(scatter, {reduce, slice});
    slice.getResult().replaceAllUsesWith(scatter.getResult(0));
    slice.erase();
    reduce.erase();
    return true;
  }

  /// all_reduce(x) + all_reduce(y) is all_reduce(x + y).
  bool foldSum(Operation* op) {
    if (op->getNumOperands() != 2 || op->getNumResults() != 1) return false;
    auto lhs = op->getOperand(0).getDefiningOp<spmd::AllReduceOp>(),
         rhs = op->getOperand(1).getDefiningOp<spmd::AllReduceOp>();
    if (!lhs || !rhs || lhs == rhs || lhs.getInputs().size() != 1 || rhs.getInputs().size() != 1 || !lhs->hasOneUse() ||
        !rhs->hasOneUse())
      return false;
    if (lhs.getKind() != rhs.getKind() || lhs.getAxes() != rhs.getAxes() || !joinsPartials(op, lhs.getKind()))
      return false;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    op->setOperands({lhs.getInputs()[0], rhs.getInputs()[0]});
    auto sum = spmd::AllReduceOp::create(builder, op->getLoc(), op->getResultTypes(), op->getResults(), lhs.getKind(),
                                         lhs.getAxes());
    op->getResult(0).replaceAllUsesExcept(sum.getResult(0), sum);
    mergeExplanations(sum, {lhs, rhs});
    lhs.erase();
    rhs.erase();
    return true;
  }
};
}  // namespace
