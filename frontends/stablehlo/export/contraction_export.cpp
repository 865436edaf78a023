// Exports of matmuls, convolutions and reductions.
#include "frontends/stablehlo/export/op_export.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isUnsignedKind(ReduceKind kind) { return kind == ReduceKind::UMax || kind == ReduceKind::UMin; }

static StringRef getCombiner(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Add:
      return "stablehlo.add";
    case ReduceKind::Mul:
      return "stablehlo.multiply";
    case ReduceKind::Max:
    case ReduceKind::UMax:
      return "stablehlo.maximum";
    case ReduceKind::Min:
    case ReduceKind::UMin:
      return "stablehlo.minimum";
    case ReduceKind::And:
      return "stablehlo.and";
    case ReduceKind::Or:
      return "stablehlo.or";
    case ReduceKind::Xor:
      return "stablehlo.xor";
  }
  llvm_unreachable("all kinds are handled");
}

void mlir::sgd::createCombinerRegion(OpExport& e, Region& region, ReduceKind kind, Type element) {
  OpBuilder::InsertionGuard guard(e.builder);
  RankedTensorType scalar = getExportedType(element);
  Block* body = e.builder.createBlock(&region, {}, {scalar, scalar}, {e.loc, e.loc});
  Value combined = e.createNamed(getCombiner(kind), scalar, body->getArguments());
  e.create<stablehlo::ReturnOp>(combined);
}

namespace {

LogicalResult exportDotGeneral(OpExport& e) {
  auto op = cast<DotGeneralOp>(e.op);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(op.getContext(), op.getLhsBatching(), op.getRhsBatching(),
                                                         op.getLhsContracting(), op.getRhsContracting());
  return e.finish(
      e.createWith<stablehlo::DotGeneralOp>(e.getResultType(), e.operands, {{"dot_dimension_numbers", numbers}})
          ->getResults());
}

Value reshape(OpExport& e, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape) return value;
  return e.createNamed("stablehlo.reshape", type.clone(shape), value);
}

/// `shape` with its last dimensions from `from` on as one.
SmallVector<int64_t> joinLast(ArrayRef<int64_t> shape, size_t from) {
  SmallVector<int64_t> joined(shape.take_front(from));
  joined.push_back(llvm::product_of(shape.drop_front(from)));
  return joined;
}

/// Features of groups are one dimension in StableHLO, the group before the feature.
LogicalResult exportConvolution(OpExport& e) {
  auto op = cast<ConvolutionOp>(e.op);
  const int64_t spatial = op.getNumSpatialDims(), rank = spatial + 2;
  ArrayRef<int64_t> lhsShape = e.getOperandType(0).getShape(), rhsShape = e.getOperandType(1).getShape();
  Value lhs = reshape(e, e.operands[0], joinLast(lhsShape, spatial + 1)), rhs = e.operands[1];
  const int64_t groups = lhsShape[spatial + 1];
  if (groups > 1) {
    // [k.., group, input feature, output feature] with the group behind the input feature.
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, spatial + 3)), shape(rhsShape);
    std::swap(permutation[spatial], permutation[spatial + 1]);
    std::swap(shape[spatial], shape[spatial + 1]);
    rhs = e.createWith<stablehlo::TransposeOp>(e.getOperandType(1).clone(shape), rhs,
                                               {{"permutation", e.getI64s(permutation)}})
              ->getResult(0);
  }
  SmallVector<int64_t> kernel(rhsShape.take_front(spatial));
  kernel.append({rhsShape[spatial + 1], groups * rhsShape[spatial + 2]});
  rhs = reshape(e, rhs, kernel);
  SmallVector<int64_t> data = llvm::to_vector(llvm::seq<int64_t>(1, spatial + 1));
  SmallVector<int64_t> window = llvm::to_vector(llvm::seq<int64_t>(0, spatial));
  auto numbers = stablehlo::ConvDimensionNumbersAttr::get(op.getContext(), 0, rank - 1, data, spatial, spatial + 1,
                                                          window, 0, rank - 1, data);
  SmallVector<int64_t> padding;
  for (auto [low, high] : llvm::zip_equal(op.getLow(), op.getHigh())) padding.append({low, high});
  auto paddingType = RankedTensorType::get({spatial, 2}, e.builder.getI64Type());
  RankedTensorType type = e.getResultType();
  Value result = e.createWith<stablehlo::ConvolutionOp>(type.clone(joinLast(type.getShape(), spatial + 1)), {lhs, rhs},
                                                        {{"window_strides", op.getStridesAttr()},
                                                         {"padding", DenseIntElementsAttr::get(paddingType, padding)},
                                                         {"lhs_dilation", op.getLhsDilationsAttr()},
                                                         {"rhs_dilation", op.getRhsDilationsAttr()},
                                                         {"dimension_numbers", numbers},
                                                         {"feature_group_count", e.getI64(groups)},
                                                         {"batch_group_count", e.getI64(1)}})
                     ->getResult(0);
  return e.finish(reshape(e, result, type.getShape()));
}

Value createNeutral(OpExport& e, ReduceKind kind, Value input) {
  auto type = cast<RankedTensorType>(input.getType());
  RankedTensorType signless = withSignless(type);
  TypedAttr neutral = getNeutralElement(e.builder, kind, signless.getElementType());
  DenseElementsAttr elements = DenseElementsAttr::get(getExportedType(signless.getElementType()), Attribute(neutral));
  return e.constant(elements.bitcast(type.getElementType()));
}

LogicalResult exportReduce(OpExport& e) {
  auto op = cast<ReduceOp>(e.op);
  ReduceKind kind = op.getKind();
  Value input = isUnsignedKind(kind) ? e.toUnsigned(e.operands[0]) : e.operands[0];
  auto type = cast<RankedTensorType>(input.getType());
  // Of a wider type than its input, the reduction is of the converted elements.
  if (type.getElementType() != e.getResultType().getElementType() && !isUnsignedKind(kind)) {
    type = type.clone(e.getResultType().getElementType());
    input = e.convert(input, type);
  }
  auto reduce = e.createWith<stablehlo::ReduceOp>(e.getResultType().clone(type.getElementType()),
                                                  {input, createNeutral(e, kind, input)},
                                                  {{"dimensions", op.getDimensionsAttr()}});
  createCombinerRegion(e, reduce.getBody(), kind, type.getElementType());
  return e.finish(e.toSignless(reduce->getResult(0)));
}

/// A window that holds an element and all before it, or behind it.
LogicalResult exportCumulative(OpExport& e) {
  auto op = cast<CumulativeOp>(e.op);
  ReduceKind kind = op.getKind();
  Value input = isUnsignedKind(kind) ? e.toUnsigned(e.operands[0]) : e.operands[0];
  auto type = cast<RankedTensorType>(input.getType());
  const int64_t rank = type.getRank(), size = type.getDimSize(op.getDimension());
  SmallVector<int64_t> window(rank, 1), padding(2 * rank, 0);
  window[op.getDimension()] = std::max<int64_t>(size, 1);
  padding[2 * op.getDimension() + (op.getReverse() ? 1 : 0)] = std::max<int64_t>(size - 1, 0);
  auto paddingType = RankedTensorType::get({rank, 2}, e.builder.getI64Type());
  auto reduce = e.createWith<stablehlo::ReduceWindowOp>(
      type, {input, createNeutral(e, kind, input)},
      {{"window_dimensions", e.getI64s(window)}, {"padding", DenseIntElementsAttr::get(paddingType, padding)}});
  createCombinerRegion(e, reduce.getBody(), kind, type.getElementType());
  return e.finish(e.toSignless(reduce->getResult(0)));
}

}  // namespace

void mlir::sgd::addContractionExports(ExportTable& table) {
  const std::pair<StringRef, ExportFn> entries[] = {
      {"sgd.dot_general", exportDotGeneral},
      {"sgd.convolution", exportConvolution},
      {"sgd.reduce", exportReduce},
      {"sgd.cumulative", exportCumulative},
  };
  for (auto [name, fn] : entries) table[name] = fn;
}
