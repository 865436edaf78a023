// One op each, or none.
#include "passes/graph/expressions/tensor_math.h"

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

Value TensorMath::slice(Value value, ArrayRef<int64_t> begins, ArrayRef<int64_t> ends) {
  SmallVector<int64_t> shape;
  for (auto [begin, end] : llvm::zip(begins, ends)) shape.push_back(end - begin);
  return SliceOp::create(builder, loc, tensorType(value).clone(shape), value, begins, ends,
                         SmallVector<int64_t>(shape.size(), 1));
}

Value TensorMath::concatenate(ArrayRef<Value> values, int64_t dim) {
  if (values.size() == 1) return values.front();
  SmallVector<int64_t> shape(tensorType(values.front()).getShape());
  shape[dim] = 0;
  for (Value value : values) shape[dim] += tensorType(value).getDimSize(dim);
  return ConcatenateOp::create(builder, loc, tensorType(values.front()).clone(shape), values, dim);
}

Value TensorMath::broadcast(Value value, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  if (tensorType(value).getShape() == shape && llvm::is_sorted(dims)) return value;
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

/// Index vectors of one element.
static constexpr ArrayRef<int64_t> kNone;
static constexpr int64_t kFirst[] = {0};

Value TensorMath::take(Value value, Value positions) {
  return GatherOp::create(builder, loc, tensorType(value).clone(tensorType(positions).getShape()), value, positions,
                          /*offset_dims=*/kNone, /*collapsed_slice_dims=*/kFirst, /*operand_batching_dims=*/kNone,
                          /*indices_batching_dims=*/kNone, /*start_index_map=*/kFirst, /*index_vector_dim=*/1,
                          /*slice_sizes=*/ArrayRef<int64_t>{1}, /*unsigned_indices=*/false);
}

Value TensorMath::put(Value value, Value positions, Value updates, ScatterKind kind) {
  return ScatterOp::create(builder, loc, value.getType(), value, positions, updates, kind,
                           /*update_window_dims=*/kNone, /*inserted_window_dims=*/kFirst,
                           /*input_batching_dims=*/kNone, /*indices_batching_dims=*/kNone,
                           /*scatter_dims_to_operand_dims=*/kFirst, /*index_vector_dim=*/1,
                           /*unsigned_indices=*/false, /*unique_indices=*/kind == ScatterKind::Set);
}

Value TensorMath::findLargest(Value value, int64_t k) {
  auto positions = RankedTensorType::get({k}, builder.getI32Type());
  return TopKOp::create(builder, loc, TypeRange{tensorType(value).clone({k}), positions}, value, k,
                        /*unsigned_elements=*/false)
      .getPositions();
}

Value TensorMath::dot(Value lhs, Value rhs, int64_t a, int64_t b) {
  SmallVector<int64_t> shape;
  auto addFree = [&](Value value, int64_t contracted) {
    for (auto [dim, size] : llvm::enumerate(tensorType(value).getShape()))
      if (static_cast<int64_t>(dim) != contracted) shape.push_back(size);
  };
  addFree(lhs, a);
  addFree(rhs, b);
  return DotGeneralOp::create(builder, loc, tensorType(lhs).clone(shape), lhs, rhs, kNone, kNone, ArrayRef<int64_t>{a},
                              ArrayRef<int64_t>{b}, /*tf32=*/false);
}

Value TensorMath::splat(RankedTensorType type, double value) {
  if (type.getElementType().isInteger()) return splat(type, static_cast<int64_t>(std::clamp(value, -0x1p62, 0x1p62)));
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), value)));
}

Value TensorMath::splat(RankedTensorType type, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
}

Value TensorMath::splat(double value, Value like) {
  return splat(RankedTensorType::get(tensorType(like).getShape(), builder.getF32Type()), value);
}

/// Multiplications and shifts that mix all bits (the last steps of MurmurHash3, Appleby 2011).
Value TensorMath::random(int64_t size) {
  auto type = RankedTensorType::get({size}, builder.getI32Type());
  auto constant = [&](uint32_t value) { return splat(type, int64_t{static_cast<int32_t>(value)}); };
  auto mix = [&](Value value, uint32_t shift) -> Value {
    return arith::XOrIOp::create(builder, loc, value, ShRUIOp::create(builder, loc, value, constant(shift)));
  };
  Value bits = add(iota({size}, 0), constant(0x9e3779b9));
  bits = multiply(mix(bits, 16), constant(0x85ebca6b));
  bits = multiply(mix(bits, 13), constant(0xc2b2ae35));
  Value number = toFloat(mix(bits, 16));
  return multiply(number, splat(0x1p-31, number));
}

Value TensorMath::index(int64_t value) { return splat(RankedTensorType::get({}, builder.getI32Type()), value); }

/// One of two ops with the operands' type.
template <typename FloatOp, typename IntegerOp>
static Value createEither(OpBuilder& builder, Location loc, Value a, Value b) {
  if (tensorType(a).getElementType().isInteger()) return IntegerOp::create(builder, loc, a, b);
  return FloatOp::create(builder, loc, a, b);
}

Value TensorMath::add(Value a, Value b) { return createEither<arith::AddFOp, arith::AddIOp>(builder, loc, a, b); }
Value TensorMath::subtract(Value a, Value b) { return createEither<arith::SubFOp, arith::SubIOp>(builder, loc, a, b); }
Value TensorMath::multiply(Value a, Value b) { return createEither<arith::MulFOp, arith::MulIOp>(builder, loc, a, b); }
Value TensorMath::divide(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value TensorMath::minus(Value value) { return arith::NegFOp::create(builder, loc, value); }
Value TensorMath::maximum(Value a, Value b) {
  return createEither<arith::MaximumFOp, arith::MaxSIOp>(builder, loc, a, b);
}
Value TensorMath::minimum(Value a, Value b) {
  return createEither<arith::MinimumFOp, arith::MinSIOp>(builder, loc, a, b);
}
Value TensorMath::absolute(Value value) { return math::AbsFOp::create(builder, loc, value); }
Value TensorMath::inverseRoot(Value value) { return math::RsqrtOp::create(builder, loc, value); }
Value TensorMath::exponential(Value value) { return math::ExpOp::create(builder, loc, value); }

static Value compare(OpBuilder& builder, Location loc, arith::CmpFPredicate ofFloats, arith::CmpIPredicate ofIntegers,
                     Value a, Value b) {
  if (tensorType(a).getElementType().isInteger()) return arith::CmpIOp::create(builder, loc, ofIntegers, a, b);
  return arith::CmpFOp::create(builder, loc, ofFloats, a, b);
}

Value TensorMath::isLess(Value a, Value b) {
  return compare(builder, loc, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, a, b);
}
Value TensorMath::isAtLeast(Value a, Value b) {
  return compare(builder, loc, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge, a, b);
}
Value TensorMath::isEqual(Value a, Value b) {
  return compare(builder, loc, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, a, b);
}
Value TensorMath::both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
Value TensorMath::negate(Value condition) {
  return arith::XOrIOp::create(builder, loc, condition, splat(tensorType(condition), int64_t{1}));
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

Value TensorMath::convert(Value value, Type element) {
  Type from = tensorType(value).getElementType();
  if (from == element) return value;
  auto type = RankedTensorType::get(tensorType(value).getShape(), element);
  if (element.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}
