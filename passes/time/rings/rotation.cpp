// A rotation is one collective of two ranges of rows, of which each rank takes one: that of the next rank, and on the
// last rank that of the first.
#include "passes/time/rings/rotation.h"

#include "dialects/sgd/decision.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

Rotation::Rotation(Operation* replaced, AxisListAttr group)
    : loc(replaced->getLoc()),
      group(group),
      replaced(replaced),
      ranks(getGroupSize(getParts(lookupMesh(replaced, group.getMesh()), group.getAxes()))) {}

static Value createInteger(OpBuilder& builder, Location loc, int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI32Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, static_cast<int32_t>(value)));
}

static void explain(Operation* rotation, Operation* replaced, uint64_t bytes) {
  for (Decision decision : getDecisions(replaced, DecisionKind::Movement)) {
    decision.chosen = "gather_range";
    decision.bytes = bytes;
    addDecision(rotation, decision);
  }
}

Value Rotation::rotate(OpBuilder& builder, Value tile) const {
  RankedTensorType type = tensorType(tile);
  int64_t rows = type.getDimSize(0);
  auto getRange = [&](int64_t offset) {
    return RangeAttr::get(builder.getContext(), /*dim=*/0, ranks * rows, /*scale=*/rows, offset, /*divisor=*/1,
                          /*step=*/1);
  };
  // Past the end, and before the beginning: zero.
  Attribute ahead = getRange(rows), around = getRange((1 - ranks) * rows);
  auto both = spmd::GatherRangeOp::create(builder, loc, TypeRange{type, type}, ValueRange{tile, tile},
                                          builder.getArrayAttr({ahead, around}), group, group);
  explain(both, replaced, getByteSize(type));
  Value rank = spmd::PartitionIdOp::create(builder, loc, RankedTensorType::get({}, builder.getI32Type()), group);
  Value isLast =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rank, createInteger(builder, loc, ranks - 1));
  auto maskType = RankedTensorType::get(type.getShape(), builder.getI1Type());
  Value mask = BroadcastInDimOp::create(builder, loc, maskType, isLast, ArrayRef<int64_t>{});
  return arith::SelectOp::create(builder, loc, mask, both.getResult(1), both.getResult(0));
}

Value Rotation::getPlace(OpBuilder& builder, int64_t steps, int64_t scale) const {
  Value place = spmd::PartitionIdOp::create(builder, loc, RankedTensorType::get({}, builder.getI32Type()), group);
  if (steps % ranks != 0) {
    place = arith::AddIOp::create(builder, loc, place, createInteger(builder, loc, steps % ranks));
    Value number = createInteger(builder, loc, ranks);
    Value isBehind = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, place, number);
    Value around = arith::SubIOp::create(builder, loc, place, number);
    place = arith::SelectOp::create(builder, loc, isBehind, around, place);
  }
  return scale == 1 ? place : arith::MulIOp::create(builder, loc, place, createInteger(builder, loc, scale));
}

static SmallVector<Value> getStarts(OpBuilder& builder, Value value, int64_t dim, Value begin) {
  SmallVector<Value> starts(tensorType(value).getRank(), createInteger(builder, value.getLoc(), 0));
  starts[dim] = begin;
  return starts;
}

Value mlir::sgd::sliceBlock(OpBuilder& builder, Value value, int64_t dim, Value begin, int64_t number) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape[dim] = number;
  return DynamicSliceOp::create(builder, value.getLoc(), tensorType(value).clone(shape), value,
                                getStarts(builder, value, dim, begin), shape);
}

Value mlir::sgd::updateBlock(OpBuilder& builder, Value value, int64_t dim, Value begin, Value block) {
  return DynamicUpdateSliceOp::create(builder, value.getLoc(), value.getType(), value, block,
                                      getStarts(builder, value, dim, begin));
}

Value mlir::sgd::createZeros(OpBuilder& builder, Location loc, RankedTensorType type) {
  TypedAttr zero = builder.getZeroAttr(type.getElementType());
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(DenseElementsAttr::get(type, zero)));
}
