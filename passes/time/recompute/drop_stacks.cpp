// The cone of the dropped slices, cloned into the second loop.
#include "passes/time/recompute/drop_stacks.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/IR/IRMapping.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/time/recompute/stack_cone.h"

using namespace mlir;
using namespace mlir::sgd;

void mlir::sgd::dropStacks(LoopPair& pair, ArrayRef<unsigned> dropped, const OpTimes& times) {
  std::optional<StackCone> cone = ConeGrowth(pair, times).getAddition(dropped);
  if (!cone || dropped.empty()) return;
  llvm::sort(cone->ops, [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
  SmallVector<std::pair<Value, Value>> carried;  // and their stacks
  for (Value value : cone->newStacks) carried.push_back({value, pair.addStack(value)});
  WhileOp producer = pair.getProducer(), consumer = pair.getConsumer();
  Value index = pair.getIndex();
  OpBuilder builder(consumer.getContext());
  pair.setToIndex(builder);
  IRMapping mapping;
  mapping.map(pair.getCounter(), index);
  for (Value argument : cone->iterArgs)
    mapping.map(argument, getInBody(consumer, producer.getInits()[cast<BlockArgument>(argument).getArgNumber()]));
  for (auto [value, stack] : carried) {
    Value slice = readRow(builder, getInBody(consumer, stack), index);
    mapping.map(value, Value(ReshapeOp::create(builder, value.getLoc(), tensorType(value), slice)));
  }
  for (unsigned number : cone->readStacks) {
    const LoopStack& stack = pair.getStacks()[number];
    Value slice = readRow(builder, DynamicSliceOp(stack.reads.front()).getInput(), index);
    mapping.map(stack.slice, slice);
    Value element = pair.getElement(number);
    if (element && !mapping.contains(element))
      mapping.map(element, Value(ReshapeOp::create(builder, element.getLoc(), tensorType(element), slice)));
  }
  for (Operation* op : cone->ops) builder.clone(*op, mapping);
  for (unsigned number : dropped) {
    const LoopStack& stack = pair.getStacks()[number];
    for (DynamicSliceOp read : stack.reads) {
      read.getResult().replaceAllUsesWith(mapping.lookup(stack.slice));
      read.erase();
    }
  }
}
