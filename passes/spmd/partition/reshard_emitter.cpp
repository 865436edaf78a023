// One SPMD op per planned step, with the explanation attached.
#include "passes/spmd/partition/reshard_emitter.h"

#include "passes/sharding/propagation/sequential_axis.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/all_to_all_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using Kind = ReshardStep::Kind;

ReshardEmitter::ReshardEmitter(func::FuncOp function, FlatSymbolRefAttr meshName, MeshAttr mesh, const CostModel& cost,
                               MeshAxisAttr sequential)
    : block(&function.front()), meshName(meshName), mesh(mesh), cost(cost), sequential(sequential), planner(cost) {}

const RangeOrigin* ReshardEmitter::getOrigin(Value value, int64_t dim) const {
  auto found = origins.find(value);
  return found != origins.end() && found->second.dim == dim ? &found->second : nullptr;
}

AxisListAttr ReshardEmitter::getAxes(ArrayRef<AxisPart> parts) const {
  return getAxisList(meshName, mesh, merged(parts));
}

RankedTensorType ReshardEmitter::getLocalType(RankedTensorType global) const {
  ShardingAttr sharding = getSharding(global);
  if (!sharding) return global;
  return RankedTensorType::get(sharding.getLocalShape(global.getShape(), mesh), global.getElementType());
}

FailureOr<const ReshardPlan*> ReshardEmitter::getPlan(Location loc, RankedTensorType from, RankedTensorType to) {
  auto found = plans.find({from, to});
  if (found != plans.end()) return &found->second;
  llvm::Expected<ReshardPlan> plan =
      planner.plan(from.getShape(), getElementBytes(from.getElementType()), getShardState(mesh, getSharding(from)),
                   getShardState(mesh, getSharding(to)));
  if (!plan)
    return emitError(loc) << "cannot change the sharding of " << from << " to " << to << ": "
                          << llvm::toString(plan.takeError());
  return &(plans[{from, to}] = *plan);
}

FailureOr<Value> ReshardEmitter::emit(OpBuilder& builder, Location loc, Value value, RankedTensorType from,
                                      RankedTensorType to, const Decision& cause) {
  if (sequential) return emitSequential(builder, loc, value, from, to, cause);
  return emitOverRanks(builder, loc, value, from, to, cause);
}

FailureOr<Value> ReshardEmitter::emitOverRanks(OpBuilder& builder, Location loc, Value value, RankedTensorType from,
                                               RankedTensorType to, const Decision& cause) {
  if (from == to) return value;
  ShardingAttr source = getSharding(from), target = getSharding(to);
  if (!source.isPartial() || !target.isPartial() || source.getUnreducedKind() == target.getUnreducedKind())
    return emitOneKind(builder, loc, value, from, to, cause);
  // Sums and maxima do not mix: reduce first.
  auto between = ShardingAttr::get(builder.getContext(), source.getMesh(), source.getDims(), {}, {}, ReduceKind::Add);
  FailureOr<Value> reduced = emitOneKind(builder, loc, value, from, withSharding(from, between), cause);
  if (failed(reduced)) return failure();
  return emitOneKind(builder, loc, *reduced, withSharding(from, between), to, cause);
}

std::string mlir::sgd::describeSharding(ShardingAttr sharding) {
  std::string text;
  llvm::raw_string_ostream(text) << sharding;
  StringRef rest(text);
  return rest.drop_front(rest.find('[')).drop_back().str();
}

FailureOr<Value> ReshardEmitter::emitOneKind(OpBuilder& builder, Location loc, Value value, RankedTensorType from,
                                             RankedTensorType to, const Decision& cause) {
  FailureOr<const ReshardPlan*> plan = getPlan(loc, from, to);
  if (failed(plan)) return failure();
  ReduceKind kind =
      getSharding(from).isPartial() ? getSharding(from).getUnreducedKind() : getSharding(to).getUnreducedKind();
  for (auto [index, step] : llvm::enumerate((*plan)->steps)) {
    value = emitStep(builder, loc, value, step, from.getShape(), kind);
    if (step.sentBytes == 0) continue;
    Decision decision = cause;
    decision.movement->from = describeSharding(getSharding(from));
    decision.movement->to = describeSharding(getSharding(to));
    decision.movement->step = index + 1;
    decision.movement->steps = (*plan)->steps.size();
    decision.movement->holdsWhole = (*plan)->materialises;
    decision.chosen = getStepName(step.kind).str();
    decision.bytes = step.sentBytes;
    decision.seconds = step.seconds;
    Operation* collective = value.getDefiningOp();
    while (!isa<spmd::SpmdDialect>(collective->getDialect())) collective = collective->getOperand(0).getDefiningOp();
    setDecisions(collective, decision);
  }
  return value;
}

/// The part of a tensor of `type` at one coordinate of a sequential axis: a tensor sharded over ranks alone.
static RankedTensorType getPerCoordinate(const SequentialAxis& axis, RankedTensorType type) {
  SequentialState state = axis.getState(getSharding(type));
  SmallVector<int64_t> shape(type.getShape());
  if (state.isCut()) shape[state.dim] /= axis.getSize();
  RankedTensorType whole = axis.withState(type, {});
  return RankedTensorType::get(shape, type.getElementType(), whole.getEncoding());
}

static RankedTensorType withoutAxes(const SequentialAxis& axis, RankedTensorType type, unsigned dim) {
  TensorAxes tensor = axis.getMesh().toTensorAxes(getSharding(type));
  tensor.dims[dim].axes.clear();
  return withSharding(type, axis.getMesh().toAttr(tensor, getSharding(type).getUnreducedKind()));
}

/// Reductions over the sequential axis come before those over ranks, so that ranks exchange sums of all coordinates.
/// A gather along it concatenates the blocks of all coordinates.
FailureOr<Value> ReshardEmitter::emitSequential(OpBuilder& builder, Location loc, Value value, RankedTensorType from,
                                                RankedTensorType to, const Decision& cause) {
  SequentialAxis axis(meshName, mesh, sequential);
  AxisParts all{{0, 1, sequential.getSize()}};
  SequentialState before = axis.getState(getSharding(from)), after = axis.getState(getSharding(to));
  RankedTensorType own = getPerCoordinate(axis, from), target = getPerCoordinate(axis, to);
  if (before == after) return emitOverRanks(builder, loc, value, own, target, cause);
  FailureOr<Value> result = value;
  if (before.isPartial()) {
    result = spmd::AllReduceOp::create(builder, loc, TypeRange{value.getType()}, value, before.reduceKind, getAxes(all))
                 .getResult(0);
  } else if (before.isCut()) {
    RankedTensorType whole = withoutAxes(axis, own, before.dim);
    result = emitOverRanks(builder, loc, value, own, whole, cause);
    if (failed(result)) return failure();
    own = RankedTensorType::get(from.getShape(), from.getElementType(), whole.getEncoding());
    result = spmd::AllGatherOp::create(builder, loc, TypeRange{getLocalType(own)}, *result,
                                       ArrayRef<int64_t>{before.dim}, getAxes(all))
                 .getResult(0);
  }
  if (!after.isCut()) {
    result = emitOverRanks(builder, loc, *result, own, target, cause);
    if (failed(result) || after.isWhole()) return result;
    return emitMask(builder, loc, *result, all, after.reduceKind);
  }
  RankedTensorType part = withoutAxes(axis, target, after.dim);
  auto whole = RankedTensorType::get(to.getShape(), to.getElementType(), part.getEncoding());
  result = emitOverRanks(builder, loc, *result, own, whole, cause);
  if (failed(result)) return failure();
  result = spmd::ShardSliceOp::create(builder, loc, getLocalType(part), *result, after.dim, getAxes(all)).getResult();
  return emitOverRanks(builder, loc, *result, part, target, cause);
}

/// `value` with `size` elements along `dim`: cut, or padded with zeros that nobody reads.
static Value emitResize(OpBuilder& builder, Location loc, Value value, int64_t dim, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape()), none(type.getRank(), 0);
  int64_t growth = size - shape[dim];
  shape[dim] = size;
  auto result = type.clone(shape);
  if (growth < 0)
    return SliceOp::create(builder, loc, result, value, none, shape, SmallVector<int64_t>(type.getRank(), 1));
  SmallVector<int64_t> high = none;
  high[dim] = growth;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(scalar)));
  return PadOp::create(builder, loc, result, value, zero, none, high, none);
}

/// New tiles of a dimension of `size` elements.
Value ReshardEmitter::emitGatherRange(OpBuilder& builder, Location loc, Value value, const ReshardStep& step,
                                      int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[step.dim] = step.size;
  auto range = RangeAttr::get(builder.getContext(), step.dim, size, /*scale=*/step.size, /*offset=*/0, /*divisor=*/1,
                              /*step=*/1);
  return spmd::GatherRangeOp::create(builder, loc, TypeRange{type.clone(shape)}, ValueRange{value},
                                     builder.getArrayAttr({range}), getAxes(step.fromAxes), getAxes(step.axes))
      .getResult(0);
}

Value ReshardEmitter::emitStep(OpBuilder& builder, Location loc, Value value, const ReshardStep& step,
                               ArrayRef<int64_t> wholeShape, ReduceKind kind) {
  auto type = cast<RankedTensorType>(value.getType());
  AxisListAttr axes = getAxisList(meshName, mesh, step.axes);
  int64_t parts = getGroupSize(step.axes);
  SmallVector<int64_t> shape(type.getShape());
  if (step.kind == Kind::Slice || step.kind == Kind::ReduceScatter || step.kind == Kind::AllToAll)
    shape[step.dim] /= parts;
  if (step.kind == Kind::AllGather) shape[step.dim] *= parts;
  if (step.kind == Kind::AllToAll) shape[step.concat] *= parts;
  auto result = RankedTensorType::get(shape, type.getElementType());
  switch (step.kind) {
    case Kind::Slice:
      return spmd::ShardSliceOp::create(builder, loc, result, value, step.dim, axes);
    case Kind::AllGather:
      return spmd::AllGatherOp::create(builder, loc, TypeRange{result}, ValueRange{value}, ArrayRef<int64_t>{step.dim},
                                       axes)
          .getResult(0);
    case Kind::AllToAll:
      if (!step.moves.empty()) return emitAllToAll(builder, loc, value, step.moves, getAxes(step.axes));
      return spmd::AllToAllOp::create(builder, loc, result, value, step.dim, step.concat, axes);
    case Kind::Permute:
      return spmd::CollectivePermuteOp::create(builder, loc, result, value, getAxisList(meshName, mesh, step.fromAxes),
                                               axes);
    case Kind::ReduceScatter:
      return spmd::ReduceScatterOp::create(builder, loc, TypeRange{result}, ValueRange{value}, kind,
                                           ArrayRef<int64_t>{step.dim}, axes)
          .getResult(0);
    case Kind::AllReduce:
      return spmd::AllReduceOp::create(builder, loc, TypeRange{result}, ValueRange{value}, kind, axes).getResult(0);
    case Kind::Mask:
      return emitMask(builder, loc, value, step.axes, kind);
    case Kind::Place:
      return emitPlace(builder, loc, value, step, kind);
    case Kind::Resize:
      return emitResize(builder, loc, value, step.dim, step.size);
    case Kind::GatherRange:
      return emitGatherRange(builder, loc, value, step, wholeShape[step.dim]);
  }
  llvm_unreachable("all kinds are handled");
}

/// The value on the first rank of the group, the neutral element on the others.
Value ReshardEmitter::emitMask(OpBuilder& builder, Location loc, Value value, ArrayRef<AxisPart> axes,
                               ReduceKind kind) {
  auto type = cast<RankedTensorType>(value.getType());
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  Value zero = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, builder.getI32IntegerAttr(0)));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, getPartitionId(loc, axes), zero);
  if (type.getRank() != 0)
    isFirst = BroadcastInDimOp::create(builder, loc, type.clone(builder.getI1Type()), isFirst, ArrayRef<int64_t>{});
  Attribute neutral = getNeutralElement(builder, kind, type.getElementType());
  Value filler = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(DenseElementsAttr::get(type, neutral)));
  return arith::SelectOp::create(builder, loc, isFirst, value, filler);
}

/// The rank's shard among neutral elements.
Value ReshardEmitter::emitPlace(OpBuilder& builder, Location loc, Value value, const ReshardStep& step,
                                ReduceKind kind) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[step.dim] *= getGroupSize(step.axes);
  auto constant = [&](RankedTensorType of, Attribute element) -> Value {
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(DenseElementsAttr::get(of, element)));
  };
  Value filler = constant(type.clone(shape), getNeutralElement(builder, kind, type.getElementType()));
  bool isWide = shape[step.dim] > std::numeric_limits<int32_t>::max();
  Type index = isWide ? builder.getI64Type() : builder.getI32Type();
  auto scalar = RankedTensorType::get({}, index);
  Value shard = getPartitionId(loc, step.axes);
  if (isWide) shard = arith::ExtSIOp::create(builder, loc, scalar, shard);
  SmallVector<Value> starts(shape.size(), constant(scalar, builder.getIntegerAttr(index, 0)));
  Value size = constant(scalar, builder.getIntegerAttr(index, type.getDimSize(step.dim)));
  starts[step.dim] = arith::MulIOp::create(builder, loc, shard, size);
  return DynamicUpdateSliceOp::create(builder, loc, filler.getType(), filler, value, starts);
}

Value ReshardEmitter::getPartitionId(Location loc, ArrayRef<AxisPart> parts) {
  AxisListAttr axes = getAxisList(meshName, mesh, merged(parts));
  Value& id = partitionIds[{block, axes}];
  if (!id) {
    OpBuilder builder = OpBuilder::atBlockBegin(block);
    id = spmd::PartitionIdOp::create(builder, loc, RankedTensorType::get({}, builder.getI32Type()), axes);
  }
  return id;
}
