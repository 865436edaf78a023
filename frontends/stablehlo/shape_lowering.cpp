// Lowers constants, data movement, gather and dot_general.
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "frontends/stablehlo/op_lowering.h"
#include "frontends/stablehlo/slice_of_pads.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

LogicalResult lowerConstant(OpLowering& l) {
  auto elements = dyn_cast<DenseElementsAttr>(cast<stablehlo::ConstantOp>(l.op).getValue());
  if (!elements) return l.error() << "holds its value outside of the text; export it as dense<...>";
  return l.replace<arith::ConstantOp>(toSignless(elements));
}

LogicalResult lowerIota(OpLowering& l) {
  return l.replace<IotaOp>(l.getResultType(), cast<stablehlo::IotaOp>(l.op).getIotaDimension());
}

LogicalResult lowerBroadcastInDim(OpLowering& l) {
  return l.replace<BroadcastInDimOp>(l.getResultType(), l.operands[0],
                                     cast<stablehlo::BroadcastInDimOp>(l.op).getBroadcastDimensions());
}

/// The old form with new dimensions in front.
LogicalResult lowerBroadcast(OpLowering& l) {
  int64_t added = cast<stablehlo::BroadcastOp>(l.op).getBroadcastSizes().size();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(added, added + l.getOperandType().getRank()));
  return l.replace<BroadcastInDimOp>(l.getResultType(), l.operands[0], dims);
}

LogicalResult lowerTranspose(OpLowering& l) {
  return l.replace<TransposeOp>(l.getResultType(), l.operands[0], cast<stablehlo::TransposeOp>(l.op).getPermutation());
}

LogicalResult lowerReshape(OpLowering& l) { return l.replace<ReshapeOp>(l.getResultType(), l.operands[0]); }

LogicalResult lowerSlice(OpLowering& l) {
  auto slice = cast<stablehlo::SliceOp>(l.op);
  bool hasStrides = llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride != 1; });
  Value input = slice->getOperand(0);
  if (!hasStrides && input.hasOneUse() && input.getDefiningOp<stablehlo::SelectAndScatterOp>())
    return l.finish(sliceOfPads(l, l.operands[0], slice.getStartIndices(), slice.getLimitIndices()));
  return l.replace<SliceOp>(l.getResultType(), l.operands[0], slice.getStartIndices(), slice.getLimitIndices(),
                            slice.getStrides());
}

LogicalResult lowerReverse(OpLowering& l) {
  return l.replace<ReverseOp>(l.getResultType(), l.operands[0], cast<stablehlo::ReverseOp>(l.op).getDimensions());
}

LogicalResult lowerPad(OpLowering& l) {
  auto pad = cast<stablehlo::PadOp>(l.op);
  return l.replace<PadOp>(l.getResultType(), l.operands[0], l.operands[1], pad.getEdgePaddingLow(),
                          pad.getEdgePaddingHigh(), pad.getInteriorPadding());
}

LogicalResult lowerConcatenate(OpLowering& l) {
  return l.replace<ConcatenateOp>(l.getResultType(), l.operands, cast<stablehlo::ConcatenateOp>(l.op).getDimension());
}

/// Start indices, which the graph level reads as signed: unsigned ones are widened, ui64 is capped.
SmallVector<Value> lowerStarts(OpLowering& l, unsigned first) {
  SmallVector<Value> starts(l.operands.drop_front(first));
  if (starts.empty() || !isUnsigned(l.getElementType(first))) return starts;
  for (Value& start : starts) {
    auto type = cast<RankedTensorType>(start.getType());
    if (type.getElementTypeBitWidth() < 64)
      start = l.create<arith::ExtUIOp>(type.clone(l.builder.getI64Type()), start);
    else
      start = l.create<arith::MinUIOp>(start, l.splat(type, APInt::getSignedMaxValue(64)));
  }
  return starts;
}

/// Where a block of `sizes` begins in an operand of `shape` whose starts are constants: clamped so that it is inside.
std::optional<SmallVector<int64_t>> getKnownStarts(ArrayRef<Value> starts, ArrayRef<int64_t> sizes,
                                                   ArrayRef<int64_t> shape) {
  SmallVector<int64_t> known;
  for (auto [start, size, bound] : llvm::zip(starts, sizes, shape)) {
    auto value = dyn_cast_or_null<IntegerAttr>(getSplatConstant(start));
    if (!value) return std::nullopt;
    known.push_back(std::clamp<int64_t>(value.getValue().getSExtValue(), 0, bound - size));
  }
  return known;
}

LogicalResult lowerDynamicSlice(OpLowering& l) {
  ArrayRef<int64_t> sizes = cast<stablehlo::DynamicSliceOp>(l.op).getSliceSizes();
  SmallVector<Value> starts = lowerStarts(l, 1);
  if (auto known = getKnownStarts(starts, sizes, l.getOperandType().getShape())) {
    SmallVector<int64_t> limits, strides(sizes.size(), 1);
    for (auto [start, size] : llvm::zip(*known, sizes)) limits.push_back(start + size);
    return l.replace<SliceOp>(l.getResultType(), l.operands[0], *known, limits, strides);
  }
  return l.replace<DynamicSliceOp>(l.getResultType(), l.operands[0], starts, sizes);
}

LogicalResult lowerDynamicUpdateSlice(OpLowering& l) {
  return l.replace<DynamicUpdateSliceOp>(l.getResultType(), l.operands[0], l.operands[1], lowerStarts(l, 2));
}

LogicalResult lowerGather(OpLowering& l) {
  auto gather = cast<stablehlo::GatherOp>(l.op);
  auto dims = gather.getDimensionNumbers();
  return l.replace<GatherOp>(l.getResultType(), l.operands[0], l.operands[1], dims.getOffsetDims(),
                             dims.getCollapsedSliceDims(), dims.getOperandBatchingDims(),
                             dims.getStartIndicesBatchingDims(), dims.getStartIndexMap(), dims.getIndexVectorDim(),
                             gather.getSliceSizes(), l.getElementType(1).isUnsignedInteger());
}

/// Converts a dot operand to the type that the dot multiplies in: integers widen to the result's type, floats
/// narrow where the algorithm says so.
Value prepareDotOperand(OpLowering& l, unsigned index, Type precision) {
  Value value = l.operands[index];
  auto type = l.getOperandType(index);
  Type resultElement = l.getResultType().getElementType();
  if (isa<IntegerType>(type.getElementType()) && isa<IntegerType>(resultElement) &&
      type.getElementTypeBitWidth() < resultElement.getIntOrFloatBitWidth()) {
    auto wide = type.clone(resultElement);
    return isUnsigned(l.getElementType(index)) ? l.create<arith::ExtUIOp>(wide, value)
                                               : l.create<arith::ExtSIOp>(wide, value);
  }
  bool narrows = precision && isa<BFloat16Type, Float16Type>(precision) && isa<FloatType>(type.getElementType()) &&
                 type.getElementTypeBitWidth() > 16;
  return narrows ? l.create<arith::TruncFOp>(type.clone(precision), value) : value;
}

/// Whether any product is true: counts them.
LogicalResult lowerDotOfBooleans(OpLowering& l, stablehlo::DotDimensionNumbersAttr dims) {
  SmallVector<Value> counts;
  Type i32 = l.builder.getI32Type();
  for (unsigned index : {0, 1})
    counts.push_back(l.create<arith::ExtUIOp>(l.getOperandType(index).clone(i32), l.operands[index]));
  RankedTensorType type = l.getResultType().clone(i32);
  Value count = l.create<DotGeneralOp>(type, counts[0], counts[1], dims.getLhsBatching(), dims.getRhsBatching(),
                                       dims.getLhsContracting(), dims.getRhsContracting(), /*allow_tf32=*/false);
  return l.replace<arith::CmpIOp>(arith::CmpIPredicate::ne, count, l.splat(type, 0.0));
}

LogicalResult lowerDotGeneral(OpLowering& l) {
  auto dot = cast<stablehlo::DotGeneralOp>(l.op);
  Type lhsPrecision, rhsPrecision;
  bool tf32 = !dot.getAlgorithmAttr() && l.mayUseTf32(dot.getPrecisionConfig());
  if (auto algorithm = dot.getAlgorithmAttr()) {
    // Several components emulate a precision that the default, accumulation in f32 or wider,
    // already has.
    if (algorithm.getAccumulationType().isF64() && !l.getResultType().getElementType().isF64())
      return l.error() << "with an f64 accumulator and a narrower result is not supported; convert "
                          "its operands to f64";
    if (algorithm.getLhsComponentCount() == 1 && algorithm.getRhsComponentCount() == 1) {
      lhsPrecision = algorithm.getLhsPrecisionType();
      rhsPrecision = algorithm.getRhsPrecisionType();
      tf32 = isa<FloatTF32Type>(lhsPrecision) && isa<FloatTF32Type>(rhsPrecision) && l.isF32Matmul();
    }
  }
  auto dims = dot.getDotDimensionNumbers();
  if (l.getResultType().getElementType().isInteger(1)) return lowerDotOfBooleans(l, dims);
  return l.replace<DotGeneralOp>(l.getResultType(), prepareDotOperand(l, 0, lhsPrecision),
                                 prepareDotOperand(l, 1, rhsPrecision), dims.getLhsBatching(), dims.getRhsBatching(),
                                 dims.getLhsContracting(), dims.getRhsContracting(), tf32);
}

/// The old form: last dimension of lhs with the first of rhs.
LogicalResult lowerDot(OpLowering& l) {
  int64_t last = l.getOperandType(0).getRank() - 1;
  if (last < 0 || last > 1 || l.getOperandType(1).getRank() < 1 || l.getOperandType(1).getRank() > 2)
    return l.error() << "expects vectors or matrices";
  ArrayRef<int64_t> none;
  return l.replace<DotGeneralOp>(l.getResultType(), prepareDotOperand(l, 0, {}), prepareDotOperand(l, 1, {}), none,
                                 none, ArrayRef(last), ArrayRef<int64_t>{0},
                                 l.mayUseTf32(cast<stablehlo::DotOp>(l.op).getPrecisionConfig()));
}

LogicalResult lowerOptimizationBarrier(OpLowering& l) {
  auto barrier = OptimizationBarrierOp::create(l.builder, l.loc, l.operands.getTypes(), l.operands);
  llvm::append_range(l.results, barrier.getResults());
  return success();
}

}  // namespace

void mlir::sgd::addShapeLowerings(LoweringTable& table) {
  const std::pair<StringRef, LowerFn> entries[] = {
      {"stablehlo.broadcast", lowerBroadcast},
      {"stablehlo.broadcast_in_dim", lowerBroadcastInDim},
      {"stablehlo.concatenate", lowerConcatenate},
      {"stablehlo.constant", lowerConstant},
      {"stablehlo.dot", lowerDot},
      {"stablehlo.dot_general", lowerDotGeneral},
      {"stablehlo.dynamic_slice", lowerDynamicSlice},
      {"stablehlo.dynamic_update_slice", lowerDynamicUpdateSlice},
      {"stablehlo.gather", lowerGather},
      {"stablehlo.iota", lowerIota},
      {"stablehlo.optimization_barrier", lowerOptimizationBarrier},
      {"stablehlo.pad", lowerPad},
      {"stablehlo.reshape", lowerReshape},
      {"stablehlo.reverse", lowerReverse},
      {"stablehlo.slice", lowerSlice},
      {"stablehlo.transpose", lowerTranspose},
  };
  for (auto [name, lower] : entries) table[name] = lower;
}
