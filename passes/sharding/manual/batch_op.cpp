// Ops that are equal on all ranks or act on elements are cloned; others have a rule.
#include "passes/sharding/manual/batch_op.h"

#include "dialects/sgd/sharding_rule.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::batchOp(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch,
                                 SmallVectorImpl<Batched>& results) {
  auto ruled = dyn_cast<BatchRuleOpInterface>(op);
  AxisIndices axes = uniteAxes(operands);
  bool isComplete = op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>();
  bool isEqual = axes.empty() && !(ruled && ruled.isBetweenRanks());
  if (isComplete && (isEqual || (!ruled && isElementwise(op)))) {
    Operation* copy = cloneWith(op, spreadAll(op->getLoc(), operands, axes, batch), axes, batch);
    for (Value result : copy->getResults()) results.push_back({result, axes});
    return success();
  }
  if (!ruled)
    return op->emitError() << "'" << op->getName()
                           << "' is not supported in a manual computation on values that differ between ranks; "
                              "expected an op with a batching rule; "
                              "compute it outside of shard_map";
  llvm::append_range(results, ruled.batch(operands, batch));
  return success();
}
