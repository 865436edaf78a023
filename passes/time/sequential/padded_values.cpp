// Slices, pads and selects.
#include "passes/time/sequential/padded_values.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/sharding/propagation/constants.h"

using namespace mlir;
using namespace mlir::sgd;

static OpBuilder getBuilderBehind(Value value) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  return builder;
}

std::optional<RowsDim> PaddedValues::get(Value value) const {
  auto found = padded.find(value);
  return found == padded.end() ? std::nullopt : std::optional(found->second);
}

void PaddedValues::setPadded(Value value, RowsDim dim) {
  padded[value] = dim;
  value.setType(rows.withPadding(tensorType(value), dim));
}

/// `value` without padding.
Value PaddedValues::getWhole(Value value) {
  std::optional<RowsDim> dim = get(value);
  if (!dim) return value;
  Value& shared = whole[value];
  if (shared) return shared;
  RankedTensorType type = rows.withoutPadding(tensorType(value), *dim);
  SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
  OpBuilder builder = getBuilderBehind(value);
  return shared = SliceOp::create(builder, value.getLoc(), type, value, starts, type.getShape(), strides);
}

/// `value`, which is not padded along `dim`, with `filler` behind its rows.
Value PaddedValues::getPadded(Value value, RowsDim dim, TypedAttr filler) {
  Value& shared = extended[{value, dim.batch, dim.dim, filler}];
  if (shared) return shared;
  Value input = getWhole(value);
  RankedTensorType from = tensorType(input), to = rows.withPadding(from, dim);
  SmallVector<int64_t> none(from.getRank(), 0), high = none;
  high[dim.dim] = to.getDimSize(dim.dim) - from.getDimSize(dim.dim);
  OpBuilder builder = getBuilderBehind(input);
  auto scalar = RankedTensorType::get({}, from.getElementType());
  Value constant = arith::ConstantOp::create(builder, input.getLoc(), DenseElementsAttr::get(scalar, filler));
  return shared = PadOp::create(builder, input.getLoc(), to, input, constant, none, high, none);
}

/// Of a constant that is equal everywhere, and of indices, any op has its own.
bool PaddedValues::makeFreely(OpOperand& operand, RowsDim dim) {
  Value value = operand.get();
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!isMadeFreely(value) || (constant && !splat)) return false;
  RankedTensorType type = rows.withPadding(tensorType(value), dim);
  OpBuilder builder(operand.getOwner());
  Operation* own = builder.clone(*value.getDefiningOp());
  own->getResult(0).setType(type);
  if (splat) cast<arith::ConstantOp>(own).setValueAttr(splat.resizeSplat(type));
  operand.set(own->getResult(0));
  if (value.use_empty()) value.getDefiningOp()->erase();
  return true;
}

void PaddedValues::bring(OpOperand& operand, std::optional<RowsDim> dim) {
  Value value = operand.get();
  if (!isa<RankedTensorType>(value.getType()) || get(value) == dim) return;
  if (!dim) return operand.set(getWhole(value));
  if (makeFreely(operand, *dim)) return;
  OpBuilder builder(value.getContext());
  operand.set(getPadded(value, *dim, cast<TypedAttr>(builder.getZeroAttr(tensorType(value).getElementType()))));
}

/// `value`, which is padded along `dim`, with `filler` in its padding.
Value PaddedValues::getFilled(Value value, RowsDim dim, TypedAttr filler) {
  Value& shared = filled[{value, dim.batch, dim.dim, filler}];
  if (shared) return shared;
  RankedTensorType type = tensorType(value);
  int64_t limit = rows.withoutPadding(type, dim).getDimSize(dim.dim);
  OpBuilder builder = getBuilderBehind(value);
  bool isWide = type.getDimSize(dim.dim) > std::numeric_limits<int32_t>::max();
  auto indices = type.clone(isWide ? builder.getI64Type() : builder.getI32Type());
  auto splat = [&](RankedTensorType type, TypedAttr scalar) -> Value {
    return arith::ConstantOp::create(builder, value.getLoc(), DenseElementsAttr::get(type, scalar));
  };
  Value iota = IotaOp::create(builder, value.getLoc(), indices, dim.dim);
  Value limits = splat(indices, builder.getIntegerAttr(indices.getElementType(), limit));
  Value inside = arith::CmpIOp::create(builder, value.getLoc(), arith::CmpIPredicate::slt, iota, limits);
  return shared = arith::SelectOp::create(builder, value.getLoc(), inside, value, splat(type, filler));
}

void PaddedValues::fill(OpOperand& operand, RowsDim dim, TypedAttr filler) {
  if (get(operand.get()) != dim && !isMadeFreely(operand.get()))
    return operand.set(getPadded(operand.get(), dim, filler));
  bring(operand, dim);
  operand.set(getFilled(operand.get(), dim, filler));
}
