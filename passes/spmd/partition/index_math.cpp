// Nothing is folded here.
#include "passes/spmd/partition/index_math.h"

using namespace mlir;
using namespace mlir::sgd;

IndexMath::IndexMath(OpBuilder& builder, Location loc, ArrayRef<int64_t> sizes) : TensorMath(builder, loc) {
  // Twice the size must fit: sums of an index and an offset are compared with it.
  bool isNarrow = llvm::all_of(sizes, [](int64_t size) { return size < INT32_MAX / 2; });
  type = builder.getIntegerType(isNarrow ? 32 : 64);
}

Value IndexMath::convert(Value integers, bool isUnsigned, int64_t low, int64_t high) {
  RankedTensorType from = tensorType(integers), to = from.clone(type);
  unsigned width = from.getElementTypeBitWidth();
  if (width < type.getWidth()) {
    integers = isUnsigned ? arith::ExtUIOp::create(builder, loc, to, integers).getResult()
                          : arith::ExtSIOp::create(builder, loc, to, integers).getResult();
    return clamp(integers, low, high);
  }
  Value most = splatLike(integers, high);
  if (isUnsigned)
    integers = arith::MinUIOp::create(builder, loc, integers, most);
  else
    integers = minimum(maximum(integers, splatLike(integers, low)), most);
  return width == type.getWidth() ? integers : arith::TruncIOp::create(builder, loc, to, integers).getResult();
}

Value IndexMath::splat(int64_t value, ArrayRef<int64_t> shape) {
  return TensorMath::splat(RankedTensorType::get(shape, type), value);
}

Value IndexMath::iota(int64_t size) { return IotaOp::create(builder, loc, RankedTensorType::get({size}, type), 0); }

Value IndexMath::multiply(Value lhs, int64_t rhs) { return multiply(lhs, splatLike(lhs, rhs)); }

Value IndexMath::clamp(Value value, int64_t low, int64_t high) {
  value = maximum(value, splatLike(value, low));
  return minimum(value, splatLike(value, high));
}

Value IndexMath::isInRange(Value value, int64_t low, int64_t high) {
  Value isLarge = isAtLeast(value, splatLike(value, low));
  return both(isLarge, isLess(value, splatLike(value, high)));
}

Value IndexMath::conjunction(Value lhs, Value rhs) { return !lhs || !rhs ? (lhs ? lhs : rhs) : both(lhs, rhs); }

Value IndexMath::select(Value mask, Value value, int64_t other) {
  return TensorMath::select(mask, value, splatLike(value, other));
}

Value mlir::sgd::createTake(OpBuilder& builder, Location loc, Value input, int64_t dim, Value indices) {
  RankedTensorType type = tensorType(input);
  SmallVector<int64_t> shape(type.getShape()), offsetDims, sliceSizes(type.getShape());
  shape[dim] = tensorType(indices).getDimSize(0);
  sliceSizes[dim] = 1;
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (other != dim) offsetDims.push_back(other);
  return GatherOp::create(builder, loc, type.clone(shape), input, indices, offsetDims, ArrayRef<int64_t>{dim},
                          ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, ArrayRef<int64_t>{dim}, 1, sliceSizes,
                          /*unsigned_indices=*/false);
}

Value mlir::sgd::createMasked(OpBuilder& builder, Location loc, Value value, Value mask, ArrayRef<int64_t> dims) {
  RankedTensorType type = tensorType(value);
  Attribute neutral = builder.getZeroAttr(type.getElementType());
  if (auto element = dyn_cast<FloatType>(type.getElementType()))
    neutral = FloatAttr::get(element, APFloat::getZero(element.getFloatSemantics(), /*Negative=*/true));
  Value other = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, neutral));
  auto maskType = type.clone(builder.getI1Type());
  if (mask.getType() != maskType) mask = BroadcastInDimOp::create(builder, loc, maskType, mask, dims);
  return arith::SelectOp::create(builder, loc, mask, value, other);
}
