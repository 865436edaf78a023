// Rows of what a loop steps over are what it steps over; all else is computed by batching rules.
#include "passes/time/hoist/trip_values.h"

#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/loops/edit_loop.h"

using namespace mlir;
using namespace mlir::sgd;

/// The axis of rows.
static const AxisIndices kRows = {0};

static CutMesh createMesh(MLIRContext* context, int64_t rows) {
  return *CutMesh::create(MeshAttr::get(context, MeshAxisAttr::get(context, "rows", rows)), {});
}

TripValues::TripValues(LayerLoop layers)
    : layers(std::move(layers)), mesh(createMesh(this->layers.op.getContext(), this->layers.trips)) {
  // Values that the loop stacks anyway are known behind it.
  for (auto update : getBody().getOps<DynamicUpdateSliceOp>()) {
    Value element = isRow(update) ? dropLeadingDim(update.getUpdate()) : Value();
    if (element && getStackType(tensorType(element), this->layers.trips) == update.getType())
      stacks.try_emplace(element, cast<BlockArgument>(update.getInput()).getArgNumber());
  }
}

// Known values
// -----------------------------------------------------------------------------------------------------------

static bool isWhole(ArrayRef<int64_t> row, RankedTensorType whole) {
  return row.front() == 1 && row.drop_front() == whole.getShape().drop_front();
}

static bool hasRole(const LayerLoop& layers, Value value, LayerLoop::Role role) {
  auto argument = dyn_cast<BlockArgument>(value);
  WhileOp loop = layers.op;
  return argument && argument.getOwner() == &loop.getBody().front() && layers.roles[argument.getArgNumber()] == role;
}

bool TripValues::isRow(DynamicSliceOp slice) {
  return hasRole(layers, slice.getInput(), LayerLoop::Role::Read) &&
         isWhole(slice.getSizes(), tensorType(slice.getInput()));
}

bool TripValues::isRow(DynamicUpdateSliceOp update) {
  return hasRole(layers, update.getInput(), LayerLoop::Role::Written) &&
         isWhole(tensorType(update.getUpdate()).getShape(), tensorType(update.getInput()));
}

/// Results of a barrier are its operands.
static Value lookThroughBarrier(Value value) {
  auto barrier = value.getDefiningOp<OptimizationBarrierOp>();
  return barrier ? barrier->getOperand(cast<OpResult>(value).getResultNumber()) : value;
}

Value TripValues::getBase(Value value) {
  while (true) {
    Value next = lookThroughBarrier(value);
    Operation* op = next.getDefiningOp();
    bool isMoved =
        op && (keepsAllElements(op) ||
               (isa<BroadcastInDimOp>(op) && getByteSize(op->getOperand(0).getType()) == getByteSize(next.getType())));
    if (isMoved) next = op->getOperand(0);
    if (next == value) return value;
    value = next;
  }
}

TripValues::Knowledge TripValues::classify(Value value) {
  auto [place, isNew] = known.try_emplace(value, Knowledge::None);
  if (!isNew) return place->second;
  auto argument = dyn_cast<BlockArgument>(value);
  Knowledge knowledge = argument ? classifyArgument(argument) : classifyResult(cast<OpResult>(value));
  known[value] = knowledge;
  return knowledge;
}

TripValues::Knowledge TripValues::classifyArgument(BlockArgument argument) {
  if (layers.op.isInvariant(argument.getArgNumber())) return Knowledge::Uniform;
  return hasRole(layers, argument, LayerLoop::Role::Counter) ? Knowledge::Rows : Knowledge::None;
}

bool TripValues::isCheap(Operation* op) {
  bool isPlain = op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op);
  bool isMoved = isa<BatchRuleOpInterface>(op) && (movesOneTensor(op) || isa<ReduceOp>(op));
  return isPlain && (isElementwise(op) || isMoved);
}

TripValues::Knowledge TripValues::classifyResult(OpResult result) {
  Operation* op = result.getOwner();
  if (isa<arith::ConstantOp>(op)) return Knowledge::Uniform;
  if (auto slice = dyn_cast<DynamicSliceOp>(op)) return isRow(slice) ? Knowledge::Rows : Knowledge::None;
  if (Value through = lookThroughBarrier(result); through != result) return classify(through);
  if (!isCheap(op)) return Knowledge::None;
  Knowledge least = Knowledge::Uniform;
  for (Value operand : op->getOperands()) least = std::min(least, classify(operand));
  return least;
}

bool TripValues::isKnownBehind(Value value) { return isKnown(value) || stacks.contains(getBase(value)); }

int64_t TripValues::getNewBytes(Value value) {
  Value base = getBase(value);
  bool isThere = stacks.contains(base) || isUniform(base) || base.getDefiningOp<DynamicSliceOp>();
  return isThere ? 0 : getByteSize(base.getType());
}

// Values for all trips
// ----------------------------------------------------------------------------------------------------

Batched TripValues::apply(OpBuilder& builder, Operation* op, ArrayRef<Batched> operands) {
  BatchBuilder batch(builder, mesh);
  SmallVector<Batched> results;
  LogicalResult done = batchOp(op, operands, batch, results);
  assert(succeeded(done) && "an op without a batching rule was taken for a known one");
  (void)done;
  return results.front();
}

Batched TripValues::getArgument(OpBuilder& builder, BlockArgument argument) {
  unsigned iterArg = argument.getArgNumber();
  if (layers.op.isInvariant(iterArg)) return {layers.op.getInits()[iterArg], {}};
  SmallVector<Attribute> counts;
  for (int64_t row = 0; row < layers.trips; ++row) {
    auto count = cast<DenseElementsAttr>(layers.getCount(iterArg, layers.getFirstTrip(row, 1)));
    counts.push_back(count.getSplatValue<Attribute>());
  }
  auto type = getStackType(tensorType(argument), layers.trips);
  return {arith::ConstantOp::create(builder, argument.getLoc(), DenseElementsAttr::get(type, counts)), kRows};
}

Batched TripValues::get(OpBuilder& builder, Value value) {
  if (auto stack = stacks.find(value); stack != stacks.end() && !isKnown(value))
    return {layers.op.getResult(stack->second), kRows};
  if (auto argument = dyn_cast<BlockArgument>(value)) return getArgument(builder, argument);
  if (Value through = lookThroughBarrier(value); through != value) return get(builder, through);
  Operation* op = value.getDefiningOp();
  if (isa<arith::ConstantOp>(op)) return {builder.clone(*op)->getResult(0), {}};
  if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    Value rows = layers.op.getInits()[cast<BlockArgument>(slice.getInput()).getArgNumber()];
    RankedTensorType type = getStackType(slice.getType(), layers.trips);
    return {ReshapeOp::create(builder, slice.getLoc(), type, rows), kRows};
  }
  SmallVector<Batched> operands;
  for (Value operand : op->getOperands()) operands.push_back(get(builder, operand));
  return apply(builder, op, operands);
}

// The loop
// ----------------------------------------------------------------------------------------------------------------

Value TripValues::getRowIndex(Operation* op) {
  for (Operation& access : getBody()) {
    Value index;
    if (auto slice = dyn_cast<DynamicSliceOp>(access); slice && isRow(slice)) index = slice.getStarts().front();
    if (auto update = dyn_cast<DynamicUpdateSliceOp>(access); update && isRow(update))
      index = update.getStarts().front();
    if (!index) continue;
    Operation* definition = index.getDefiningOp();
    if (!definition || definition->isBeforeInBlock(op)) return index;
  }
  return {};
}

void TripValues::addStack(Value value) {
  layers.op = mlir::sgd::addStack(layers.op, value, getRowIndex(getBody().getTerminator()), layers.trips);
  stacks[value] = layers.roles.size();
  layers.roles.push_back(LayerLoop::Role::Written);
}

Value TripValues::addInvariant(Value init) {
  Value argument = getInBody(layers.op, init);
  layers.roles.resize(layers.op.getNumResults(), LayerLoop::Role::Invariant);
  return argument;
}
