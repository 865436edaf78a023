// Verifiers of clusters and sorts of rows.
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/comparator.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult ClusterOp::verify() {
  Block& block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield) return emitOpError("body must end in fusion.yield");
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("block arguments and operands differ in type");
  if (yield.getOperandTypes() != getResultTypes()) return emitOpError("yielded values and results differ in type");
  return success();
}

sgd::DynamicUpdateSliceOp ClusterOp::getUpdate(unsigned result) {
  auto update = getBody().front().getTerminator()->getOperand(result).getDefiningOp<sgd::DynamicUpdateSliceOp>();
  bool isAlone =
      update && update->hasOneUse() && isa<BlockArgument>(update.getInput()) && update.getInput().hasOneUse();
  return isAlone ? update : sgd::DynamicUpdateSliceOp();
}

unsigned ClusterOp::getUpdatedInput(unsigned result) {
  return cast<BlockArgument>(getUpdate(result).getInput()).getArgNumber();
}

LogicalResult SortRowsOp::verify() {
  if (failed(sgd::verifyOneShape(*this))) return failure();
  size_t count = getInputs().size();
  bool fits = getResults().size() == 2 * count && getInputs().getTypes() == getResults().take_front(count).getTypes() &&
              getInputs().getTypes() == getResults().drop_front(count).getTypes();
  if (!fits) return emitOpError("needs the operands' types twice as results");
  if (cast<RankedTensorType>(getInputs()[0].getType()).getRank() == 0) return emitOpError("needs a dimension to sort");
  Block& body = getComparator().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  return sgd::verifyComparator(*this, body, yield ? yield.getValues() : ValueRange());
}
