// One op each, or none.
#include "passes/compress/tensor_math.h"

using namespace mlir;
using namespace mlir::sgd;

Value TensorMath::reshape(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  if (type.getShape() == shape) return value;
  return ReshapeOp::create(builder, loc, type.clone(shape), value);
}

Value TensorMath::transpose(Value value, ArrayRef<int64_t> permutation) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) shape.push_back(type.getDimSize(dim));
  return TransposeOp::create(builder, loc, type.clone(shape), value, permutation);
}

Value TensorMath::resize(Value value, int64_t dim, int64_t size) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape()), none(type.getRank(), 0);
  int64_t growth = size - shape[dim];
  if (growth == 0) return value;
  shape[dim] = size;
  if (growth < 0)
    return SliceOp::create(builder, loc, type.clone(shape), value, none, shape,
                           SmallVector<int64_t>(type.getRank(), 1));
  SmallVector<int64_t> high = none;
  high[dim] = growth;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(scalar)));
  return PadOp::create(builder, loc, type.clone(shape), value, zero, none, high, none);
}

Value TensorMath::broadcast(Value value, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  return BroadcastInDimOp::create(builder, loc, tensorType(value).clone(shape), value, dims);
}

Value TensorMath::repeat(Value value, int64_t size) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  shape.push_back(size);
  return broadcast(value, dims, shape);
}

Value TensorMath::iota(ArrayRef<int64_t> shape, int64_t dim) {
  return IotaOp::create(builder, loc, RankedTensorType::get(shape, builder.getI32Type()), dim);
}

Value TensorMath::reduce(Value value, ReduceKind kind, ArrayRef<int64_t> dims) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim))) shape.push_back(size);
  return ReduceOp::create(builder, loc, type.clone(shape), value, kind, dims);
}

Value TensorMath::splat(double value, Value like) {
  auto type = RankedTensorType::get(tensorType(like).getShape(), builder.getF32Type());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, builder.getF32FloatAttr(static_cast<float>(value))));
}

Value TensorMath::index(int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI32Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getI32IntegerAttr(value)));
}

Value TensorMath::add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value TensorMath::subtract(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value TensorMath::multiply(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value TensorMath::divide(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value TensorMath::absolute(Value value) { return math::AbsFOp::create(builder, loc, value); }

Value TensorMath::isLess(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
}

Value TensorMath::isEqual(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
}

Value TensorMath::select(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(builder, loc, condition, yes, no);
}

Value TensorMath::toInt8(Value value) {
  auto type = RankedTensorType::get(tensorType(value).getShape(), builder.getI8Type());
  return FPToSIOp::create(builder, loc, type, math::RoundEvenOp::create(builder, loc, value));
}

Value TensorMath::toFloat(Value value) {
  auto type = RankedTensorType::get(tensorType(value).getShape(), builder.getF32Type());
  return arith::SIToFPOp::create(builder, loc, type, value);
}
