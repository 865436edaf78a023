// Attributes and result types of single ops; see real_math.h.
#include "frontends/stablehlo/complex/real_math.h"

#include <limits>

using namespace mlir;
using namespace mlir::sgd;

static RankedTensorType booleansLike(Value x) { return tensorType(x).clone(IntegerType::get(x.getContext(), 1)); }

Value RealMath::constant(DenseElementsAttr elements) {
  return create<stablehlo::ConstantOp>(elements.getType(), {}, named("value", elements));
}

Value RealMath::splat(RankedTensorType type, double value) {
  return constant(DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), value)));
}

Value RealMath::compare(stablehlo::ComparisonDirection direction, Value x, Value y, stablehlo::ComparisonType type) {
  MLIRContext* context = builder.getContext();
  NamedAttribute attributes[] = {
      named("comparison_direction", stablehlo::ComparisonDirectionAttr::get(context, direction)),
      named("compare_type", stablehlo::ComparisonTypeAttr::get(context, type))};
  return create<stablehlo::CompareOp>(booleansLike(x), {x, y}, attributes);
}

Value RealMath::isFinite(Value x) { return create<stablehlo::IsFiniteOp>(booleansLike(x), x); }

Value RealMath::isInfinite(Value x) { return equals(abs(x), std::numeric_limits<double>::infinity()); }

Value RealMath::copySign(Value magnitude, Value sign) {
  Value isNegative =
      compare(stablehlo::ComparisonDirection::LT, sign, splat(sign, 0.0), stablehlo::ComparisonType::TOTALORDER);
  Value positive = abs(magnitude);
  return select(isNegative, neg(positive), positive);
}

Value RealMath::convert(Value x, Type element) {
  RankedTensorType type = tensorType(x);
  return type.getElementType() == element ? x : create<stablehlo::ConvertOp>(type.clone(element), x);
}

Value RealMath::reshape(Value x, ArrayRef<int64_t> shape) {
  return tensorType(x).getShape() == shape ? x : create<stablehlo::ReshapeOp>(tensorType(x).clone(shape), x);
}

Value RealMath::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation)) return x;
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) shape.push_back(tensorType(x).getDimSize(dim));
  return create<stablehlo::TransposeOp>(tensorType(x).clone(shape), x,
                                        named("permutation", builder.getDenseI64ArrayAttr(permutation)));
}

Value RealMath::slice(Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> shape;
  for (auto [start, limit, stride] : llvm::zip_equal(starts, limits, strides))
    shape.push_back((limit - start + stride - 1) / stride);
  NamedAttribute attributes[] = {named("start_indices", builder.getDenseI64ArrayAttr(starts)),
                                 named("limit_indices", builder.getDenseI64ArrayAttr(limits)),
                                 named("strides", builder.getDenseI64ArrayAttr(strides))};
  return create<stablehlo::SliceOp>(tensorType(x).clone(shape), x, attributes);
}

Value RealMath::sliceDim(Value x, int64_t dim, int64_t begin, int64_t end) {
  RankedTensorType type = tensorType(x);
  if (begin == 0 && end == type.getDimSize(dim)) return x;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
  starts[dim] = begin;
  limits[dim] = end;
  return slice(x, starts, limits, strides);
}

Value RealMath::reverse(Value x, int64_t dim) {
  return create<stablehlo::ReverseOp>(x.getType(), x, named("dimensions", builder.getDenseI64ArrayAttr({dim})));
}

Value RealMath::concatenate(ValueRange parts, int64_t dim) {
  SmallVector<int64_t> shape(tensorType(parts.front()).getShape());
  for (Value part : parts.drop_front()) shape[dim] += tensorType(part).getDimSize(dim);
  return create<stablehlo::ConcatenateOp>(tensorType(parts.front()).clone(shape), parts,
                                          named("dimension", builder.getI64IntegerAttr(dim)));
}

Value RealMath::broadcast(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return create<stablehlo::BroadcastInDimOp>(tensorType(x).clone(shape), x,
                                             named("broadcast_dimensions", builder.getDenseI64ArrayAttr(dims)));
}

Value RealMath::interleave(Complex z) {
  SmallVector<int64_t> shape(tensorType(z.re).getShape());
  shape.push_back(1);
  Value parts[] = {reshape(z.re, shape), reshape(z.im, shape)};
  return concatenate(parts, static_cast<int64_t>(shape.size()) - 1);
}

Complex RealMath::deinterleave(Value pairs) {
  ArrayRef<int64_t> shape = tensorType(pairs).getShape();
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  auto part = [&](int64_t index) { return reshape(sliceDim(pairs, last, index, index + 1), shape.drop_back()); };
  return {part(0), part(1)};
}
