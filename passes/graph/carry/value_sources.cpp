#include "passes/graph/carry/value_sources.h"

using namespace mlir;
using namespace mlir::sgd;

void mlir::sgd::visitSources(Value value, llvm::function_ref<void(Value)> visit) {
  Operation* owner = isa<BlockArgument>(value) ? value.getParentBlock()->getParentOp() : value.getDefiningOp();
  if (auto flow = dyn_cast<DataFlowOpInterface>(owner)) {
    DataFlowEdge edge = flow.getDataFlowEdge(flow.getDataFlowEdgeInto(value));
    for (OpOperand* source : edge.sources) visit(source->get());
    if (Value decider = flow.getDecider(); decider && isa<OpResult>(value)) visit(decider);
    return;
  }
  for (Value operand : owner->getOperands()) visit(operand);
}
