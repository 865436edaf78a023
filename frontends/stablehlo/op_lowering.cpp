// Types and constants that all lowerings share; see op_lowering.h.
#include "frontends/stablehlo/op_lowering.h"

#include "frontends/stablehlo/input/stablehlo_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

/// Its bytes can be counted with room to spare.
static bool hasCountableSize(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    if (size && llvm::MulOverflow(elements, size, elements)) return false;
  return elements < (int64_t(1) << 52);  // scores of long sequences, which are never whole
}

RankedTensorType mlir::sgd::convertTensorType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding() || !hasCountableSize(tensor)) return {};
  Type element = tensor.getElementType();
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) || isFloat8(element)) return tensor;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || !llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth())) return {};
  return integer.isSignless()
             ? tensor
             : RankedTensorType::get(tensor.getShape(), IntegerType::get(type.getContext(), integer.getWidth()));
}

LogicalResult mlir::sgd::reportUnsupportedType(Location loc, const Twine& what, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) return emitError(loc) << what << " has type " << type << "; only tensors are supported";
  if (!tensor.hasStaticShape())
    return emitError(loc) << what << " has type " << type
                          << "; dynamic shapes are not supported, export with concrete shapes";
  if (!hasCountableSize(tensor))
    return emitError(loc) << what << " has type " << type << "; no machine holds that many elements";
  if (tensor.getEncoding())
    return emitError(loc) << what << " has type " << type << "; tensor encodings are not supported";
  return emitError(loc)
         << what << " has type " << type
         << "; supported elements are f64, f32, bf16, f16, f8E4M3FN, f8E5M2, i1 and integers of 8 to 64 bits";
}

TypedAttr mlir::sgd::getSplatConstant(Value value) {
  while (isa_and_nonnull<BroadcastInDimOp, ShardingConstraintOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat()) return {};
  return dyn_cast<TypedAttr>(constant.getSplatValue<Attribute>());
}

DenseElementsAttr mlir::sgd::toSignless(DenseElementsAttr elements) {
  Type element = elements.getElementType();
  if (!isa<IntegerType>(element) || element.isSignlessInteger()) return elements;
  return elements.bitcast(IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth()));
}

RankedTensorType OpLowering::getResultType(unsigned index) const {
  return convertTensorType(op->getResult(index).getType());
}

bool OpLowering::mayUseTf32(std::optional<ArrayAttr> precisions) const {
  auto isDefault = [](Attribute precision) {
    return cast<stablehlo::PrecisionAttr>(precision).getValue() == stablehlo::Precision::DEFAULT;
  };
  return allowsTf32 && isF32Matmul() && (!precisions || llvm::all_of(*precisions, isDefault));
}

Value OpLowering::splat(RankedTensorType type, double value) {
  return create<arith::ConstantOp>(DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), value)));
}

Value OpLowering::splat(RankedTensorType type, const APInt& value) {
  return create<arith::ConstantOp>(DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
}

Value OpLowering::takeEvery(Value value, int64_t dim, int64_t first, int64_t stride, int64_t count) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1),
      shape(type.getShape());
  starts[dim] = first;
  limits[dim] = count ? first + (count - 1) * stride + 1 : first;
  strides[dim] = stride;
  shape[dim] = count;
  return create<SliceOp>(type.clone(shape), value, starts, limits, strides);
}

Value OpLowering::broadcastScalar(Value value, RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getShape() == type.getShape()) return value;
  return create<BroadcastInDimOp>(type.clone(from.getElementType()), value, ArrayRef<int64_t>{});
}

Value OpLowering::invertOrder(Value value) {
  RankedTensorType type = tensorType(value);
  if (isa<FloatType>(type.getElementType())) return create<arith::NegFOp>(value);
  return create<arith::XOrIOp>(value, splat(type, APInt::getAllOnes(type.getElementTypeBitWidth())));
}

LogicalResult OpLowering::unsupportedType() const {
  return error() << "is not supported on elements of type " << getElementType()
                 << "; expected a type that docs/reference/operations.md lists for it; convert the operands";
}
