// Bodies keep their ops when a loop gets further iter_args.
#include "passes/graph/loops/edit_loop.h"

#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/graph/loops/trip_numbers.h"

using namespace mlir;
using namespace mlir::sgd;

WhileOp mlir::sgd::addInvariants(WhileOp loop, ValueRange inits) {
  OpBuilder builder(loop);
  SmallVector<Value> operands(loop.getInits());
  llvm::append_range(operands, inits);
  auto larger = WhileOp::create(builder, loop.getLoc(), loop, operands);
  for (auto [from, to] : llvm::zip(loop->getRegions(), larger->getRegions())) to.takeBody(from);
  for (Value init : inits)
    for (Region& region : larger->getRegions())
      if (!region.empty()) region.addArgument(init.getType(), init.getLoc());
  Operation* yield = larger.getBody().front().getTerminator();
  yield->insertOperands(yield->getNumOperands(), larger.getBody().getArguments().take_back(inits.size()));
  loop->replaceAllUsesWith(larger.getResults().take_front(loop.getNumResults()));
  loop.erase();
  return larger;
}

Value mlir::sgd::getInBody(WhileOp& loop, Value value) {
  for (auto [iterArg, init] : llvm::enumerate(loop.getInits()))
    if (init == value && loop.isInvariant(iterArg)) return loop.getBody().getArgument(iterArg);
  loop = addInvariants(loop, value);
  return loop.getBody().getArguments().back();
}

Value mlir::sgd::getTripNumber(WhileOp& loop) {
  for (unsigned iterArg = 0; iterArg < loop.getInits().size(); ++iterArg) {
    std::optional<Counter> counter = getCounter(loop, iterArg);
    Value argument = loop.getBody().getArgument(iterArg);
    if (counter && counter->begin == 0 && counter->step == 1 && tensorType(argument).getRank() == 0) return argument;
  }
  OpBuilder builder(loop);
  auto type = RankedTensorType::get({}, builder.getI32Type());
  auto create = [&](int32_t number) -> Value {
    return arith::ConstantOp::create(builder, loop.getLoc(), DenseElementsAttr::get(type, number));
  };
  loop = addInvariants(loop, create(0));
  Block& body = loop.getBody().front();
  builder.setInsertionPoint(body.getTerminator());
  Value number = body.getArguments().back();
  Value next = arith::AddIOp::create(builder, loop.getLoc(), number, create(1));
  body.getTerminator()->setOperand(body.getNumArguments() - 1, next);
  return number;
}

RankedTensorType mlir::sgd::getStackType(RankedTensorType type, int64_t count) {
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

Value mlir::sgd::dropLeadingDim(Value row) {
  Operation* op = row.getDefiningOp();
  auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(op);
  bool keepsOrder = isa_and_nonnull<ReshapeOp>(op) || (broadcast && llvm::is_sorted(broadcast.getDims()));
  if (!keepsOrder || getByteSize(op->getOperand(0).getType()) != getByteSize(row.getType())) return {};
  return op->getOperand(0);
}

/// The position of row `index` in a tensor of `rank` dimensions.
static SmallVector<Value> createStarts(OpBuilder& builder, Location loc, Value index, int64_t rank) {
  Value zero;
  if (rank > 1) zero = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(index.getType())));
  SmallVector<Value> starts(rank, zero);
  starts.front() = index;
  return starts;
}

Value mlir::sgd::readRow(OpBuilder& builder, Value stack, Value index) {
  RankedTensorType type = tensorType(stack);
  SmallVector<int64_t> sizes(type.getShape());
  sizes.front() = 1;
  SmallVector<Value> starts = createStarts(builder, stack.getLoc(), index, type.getRank());
  return DynamicSliceOp::create(builder, stack.getLoc(), type.clone(sizes), stack, starts, sizes);
}

WhileOp mlir::sgd::addStack(WhileOp loop, Value value, Value index, int64_t rows) {
  OpBuilder builder(loop);
  Location loc = value.getLoc();
  RankedTensorType type = getStackType(tensorType(value), rows);
  Value init = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
  WhileOp larger = addInvariants(loop, init);
  Block& body = larger.getBody().front();
  // In front of other ops an iter_arg may still be overwritten in place.
  Operation* indexOp = index.getDefiningOp();
  if (!isa<BlockArgument>(value))
    builder.setInsertionPoint(body.getTerminator());
  else if (indexOp)
    builder.setInsertionPointAfter(indexOp);
  else
    builder.setInsertionPointToStart(&body);
  Value row = ReshapeOp::create(builder, loc, getStackType(tensorType(value), 1), value);
  SmallVector<Value> starts = createStarts(builder, loc, index, type.getRank());
  Value next = DynamicUpdateSliceOp::create(builder, loc, type, body.getArguments().back(), row, starts);
  body.getTerminator()->setOperand(body.getNumArguments() - 1, next);
  return larger;
}

SmallVector<Value> mlir::sgd::unrollLoop(WhileOp loop) {
  OpBuilder builder(loop);
  Block& body = loop.getBody().front();
  SmallVector<Value> carried(loop.getInits());
  for (uint64_t trip = 0; trip < *loop.getTrips(); ++trip) {
    IRMapping mapping;
    mapping.map(body.getArguments(), carried);
    for (Operation& op : body.without_terminator()) builder.clone(op, mapping);
    carried = llvm::map_to_vector(loop.getYielded(), [&](Value value) { return mapping.lookup(value); });
  }
  loop->replaceAllUsesWith(carried);
  loop.erase();
  return carried;
}
