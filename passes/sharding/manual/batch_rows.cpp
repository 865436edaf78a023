// Ops on rows or matrices: they are reduced, ordered, decomposed or multiplied as before, and there are more of them.
#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/linear_algebra.h"
#include "passes/sharding/manual/batch_rule.h"

using namespace mlir;
using namespace mlir::sgd;

static Batched batchReduce(ReduceOp op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  const Batched& input = operands[0];
  return {ReduceOp::create(batch.getBuilder(), op.getLoc(), batch.getBatchedType(input.axes, op.getType()), input.value,
                           op.getKind(), shifted(input.axes.size(), op.getDimensions())),
          input.axes};
}

/// The op with leading dimensions on all operands and results; the dimension that it names, if any, moves up.
template <typename Op>
static SmallVector<Batched> batchRows(Op op, ArrayRef<Batched> operands, BatchBuilder& batch) {
  AxisIndices axes = uniteAxes(operands);
  auto copy = cast<Op>(cloneWith(op, spreadAll(op.getLoc(), operands, axes, batch), axes, batch));
  if constexpr (requires { copy.setDimension(copy.getDimension()); })
    copy.setDimension(op.getDimension() + axes.size());
  SmallVector<Batched> results;
  for (Value result : copy->getResults()) results.push_back({result, axes});
  return results;
}

void mlir::sgd::attachRowBatchRules(MLIRContext& context) {
  attachBatchRule<ReduceOp, batchReduce>(context);
  attachBatchRule<SortOp, batchRows<SortOp>>(context);
  attachBatchRule<TopKOp, batchRows<TopKOp>>(context);
  attachBatchRule<CumulativeOp, batchRows<CumulativeOp>>(context);
  attachBatchRule<LinearAlgebraOp, batchRows<LinearAlgebraOp>>(context);
  attachBatchRule<GroupedDotOp, batchRows<GroupedDotOp>>(context);
}
