#include "passes/time/sequential/row_blocks.h"

using namespace mlir;
using namespace mlir::sgd;

/// The op whose data flow gives `value`, an argument of its blocks or its result; null for other values.
static DataFlowOpInterface getFlowInto(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return dyn_cast<DataFlowOpInterface>(argument.getOwner()->getParentOp());
  return dyn_cast<DataFlowOpInterface>(cast<OpResult>(value).getOwner());
}

llvm::DenseSet<Value> mlir::sgd::getSlice(ArrayRef<Value> values, llvm::function_ref<bool(Value)> isLeaf) {
  llvm::DenseSet<Value> slice;
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (isLeaf(value) || !slice.insert(value).second) continue;
    Operation* op = value.getDefiningOp();
    if (DataFlowOpInterface flow = getFlowInto(value)) {
      for (OpOperand* source : flow.getDataFlowEdge(flow.getDataFlowEdgeInto(value)).sources)
        work.push_back(source->get());
      if (Value decider = flow.getDecider()) work.push_back(decider);
    } else if (op) {
      llvm::append_range(work, op->getOperands());
    }
  }
  return slice;
}

RowBlocks::RowBlocks(func::FuncOp function, const SequentialAxis& axis, const DenseMap<Value, unsigned>& arguments) {
  auto isOther = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &function.front() && !arguments.contains(argument);
  };
  // Ranks shard the rows of a block as they shard those of the batch.
  int64_t parts = axis.getSize();
  for (auto [argument, dim] : arguments)
    parts = std::max(parts,
                     axis.getSize() * getGroupSize(axis.getRankAxes(getSharding(argument.getType())).dims[dim].axes));
  WalkResult found = function.walk([&](Operation* op) {
    auto dim = op->getAttrOfType<IntegerAttr>(kSequentialDimAttr);
    if (!dim || op->getNumResults() != 1) return WalkResult::advance();
    Value result = op->getResult(0);
    llvm::DenseSet<Value> sources = getSlice(result, [](Value) { return false; });
    if (llvm::any_of(sources, isOther)) return WalkResult::interrupt();
    if (cast<RankedTensorType>(result.getType()).getDimSize(dim.getInt()) % parts != 0) uneven.push_back(op);
    dims[result] = dim.getInt();
    leading.insert(sources.begin(), sources.end());
    return WalkResult::advance();
  });
  if (found.wasInterrupted()) uneven.clear();
  if (found.wasInterrupted() || !uneven.empty()) dims.clear(), leading.clear();
  if (dims.empty()) return;
  SmallVector<Value> returned(function.front().getTerminator()->getOperands());
  others = getSlice(returned, [&](Value value) { return dims.contains(value); });
}
