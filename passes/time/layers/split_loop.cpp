// Bodies are copied; in each, rows count from the first one of its range.
#include "passes/time/layers/split_loop.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class LoopSplit {
 public:
  LoopSplit(const LayerLoop& layers, const RowRanges& ranges, RowPieces& pieces)
      : layers(layers), loop(layers.op), ranges(ranges), pieces(pieces), builder(pieces.getBuilder()) {}

  void run();

 private:
  SmallVector<Value> getInits(size_t index);
  SmallVector<Value> write(const RowRange& range, ArrayRef<Value> inits);
  SmallVector<Value> copyBody(OpBuilder& builder, const RowRange& range, ValueRange arguments);
  bool isStackedArgument(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && layers.isStacked(argument.getArgNumber());
  }

  const LayerLoop& layers;
  WhileOp loop;
  const RowRanges& ranges;
  RowPieces& pieces;
  OpBuilder builder;
  SmallVector<Value> carried;               // by iter_arg, behind the last loop
  SmallVector<SmallVector<Value>> stacked;  // by iter_arg and range, in front of loops
};

}  // namespace

SmallVector<Value> LoopSplit::getInits(size_t index) {
  SmallVector<Value> inits;
  int64_t trip = layers.getFirstTrip(ranges[index].first, ranges[index].count);
  for (auto [iterArg, role] : llvm::enumerate(layers.roles)) {
    if (layers.isStacked(iterArg))
      inits.push_back(stacked[iterArg][index]);
    else if (role == LayerLoop::Role::Counter)
      inits.push_back(arith::ConstantOp::create(builder, loop.getLoc(), layers.getCount(iterArg, trip)));
    else
      inits.push_back(carried[iterArg]);
  }
  return inits;
}

/// `index` of a row of the whole, in the part that begins at row `first`.
static Value moveIndex(OpBuilder& builder, Location loc, Value index, int64_t first) {
  if (first == 0) return index;
  RankedTensorType type = tensorType(index);
  auto offset = DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), first));
  return arith::SubIOp::create(builder, loc, index, arith::ConstantOp::create(builder, loc, offset));
}

SmallVector<Value> LoopSplit::copyBody(OpBuilder& inside, const RowRange& range, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(loop.getBody().getArguments(), arguments);
  for (Operation& op : loop.getBody().front().without_terminator()) {
    auto slice = dyn_cast<DynamicSliceOp>(op);
    auto update = dyn_cast<DynamicUpdateSliceOp>(op);
    bool isMoved = (slice || update) && isStackedArgument(op.getOperand(0));
    unsigned start = update ? 2 : 1;
    Value index = isMoved ? moveIndex(inside, op.getLoc(), mapping.lookup(op.getOperand(start)), range.first) : Value();
    Operation* own = inside.clone(op, mapping);
    if (!isMoved) continue;
    own->setOperand(start, index);
    if (update) own->getResult(0).setType(own->getOperand(0).getType());
  }
  return llvm::map_to_vector(loop.getYielded(), [&](Value value) { return mapping.lookup(value); });
}

SmallVector<Value> LoopSplit::write(const RowRange& range, ArrayRef<Value> inits) {
  // A layer that may be on several stages is no loop.
  if (range.count == 1 && !range.stage) return copyBody(builder, range, inits);
  auto own = WhileOp::create(builder, loop.getLoc(), loop, inits);
  own.setTrips(range.count);
  OpBuilder::InsertionGuard guard(builder);
  Block* body = builder.createBlock(&own.getBody());
  for (auto [init, argument] : llvm::zip(inits, loop.getBody().getArguments()))
    body->addArgument(init.getType(), argument.getLoc());
  SmallVector<Value> yielded = copyBody(builder, range, body->getArguments());
  YieldOp::create(builder, loop.getLoc(), yielded);
  return llvm::to_vector_of<Value>(own.getResults());
}

void LoopSplit::run() {
  carried.assign(loop.getInits().begin(), loop.getInits().end());
  for (auto [iterArg, init] : llvm::enumerate(loop.getInits()))
    stacked.push_back(layers.isStacked(iterArg) ? pieces.get(init, ranges) : SmallVector<Value>());
  SmallVector<SmallVector<Value>> written(layers.roles.size(), SmallVector<Value>(ranges.size()));
  builder.setInsertionPoint(loop);
  for (size_t number = 0; number < ranges.size(); ++number) {
    size_t index = layers.isReversed ? ranges.size() - 1 - number : number;
    SmallVector<Value> results = write(ranges[index], getInits(index));
    for (auto [iterArg, role] : llvm::enumerate(layers.roles)) {
      if (role == LayerLoop::Role::Carried) carried[iterArg] = results[iterArg];
      if (role == LayerLoop::Role::Written) written[iterArg][index] = results[iterArg];
    }
  }
  for (auto [iterArg, role] : llvm::enumerate(layers.roles)) {
    Value result = loop.getResult(iterArg);
    if (role == LayerLoop::Role::Written) {
      pieces.set(result, {ranges, 0, written[iterArg]});
      continue;
    }
    if (role == LayerLoop::Role::Counter)
      carried[iterArg] = arith::ConstantOp::create(builder, loop.getLoc(), layers.getCount(iterArg, layers.trips));
    result.replaceAllUsesWith(carried[iterArg]);
  }
  pieces.retire(loop);
}

void mlir::sgd::splitLoop(const LayerLoop& layers, const RowRanges& ranges, RowPieces& pieces) {
  LoopSplit(layers, ranges, pieces).run();
}
