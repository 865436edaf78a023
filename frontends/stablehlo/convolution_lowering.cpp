// Lowers convolutions to the graph level's one form: dimensions in a fixed order, groups as a dimension of their own.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Dimension i of the result is dimension order[i] of the value.
Value transpose(OpLowering& l, Value value, ArrayRef<int64_t> order) {
  if (llvm::equal(order, llvm::seq<int64_t>(0, order.size()))) return value;
  auto shape = llvm::map_to_vector(order, [&](int64_t dim) { return tensorType(value).getDimSize(dim); });
  return l.create<TransposeOp>(tensorType(value).clone(shape), value, order);
}

Value reshape(OpLowering& l, Value value, ArrayRef<int64_t> shape) {
  return l.create<ReshapeOp>(tensorType(value).clone(shape), value);
}

/// Splits dimension `dim` into `count` parts, which become a dimension of their own before it.
Value split(OpLowering& l, Value value, int64_t dim, int64_t count) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape[dim] /= count;
  shape.insert(shape.begin() + dim, count);
  return reshape(l, value, shape);
}

SmallVector<int64_t> listOr(std::optional<ArrayRef<int64_t>> list, int64_t size, int64_t value) {
  return list ? llvm::to_vector(*list) : SmallVector<int64_t>(size, value);
}

class ConvolutionLowering {
 public:
  explicit ConvolutionLowering(OpLowering& l)
      : l(l),
        op(cast<stablehlo::ConvolutionOp>(l.op)),
        dims(op.getDimensionNumbers()),
        spatial(dims.getInputSpatial().size()) {}

  LogicalResult run() {
    if (failed(check())) return failure();
    Type element = l.getResultType().getElementType();
    Value lhs = convert(foldPadding(), l.getElementType(0), element);
    Value rhs = convert(l.operands[1], l.getElementType(1), element);
    auto convolution = l.create<ConvolutionOp>(getType(), prepareLhs(lhs), prepareRhs(rhs), strides, low, high,
                                               lhsDilations, rhsDilations, l.mayUseTf32(op.getPrecisionConfig()));
    return l.finish(finish(convolution));
  }

 private:
  LogicalResult check() {
    int64_t groups = op.getFeatureGroupCount(), batchGroups = op.getBatchGroupCount();
    for (Value value : {op.getLhs(), op.getRhs(), op.getResult()})
      if (cast<RankedTensorType>(value.getType()).getRank() != spatial + 2)
        return l.error() << "expects operands and a result of rank " << spatial + 2;
    if (static_cast<int64_t>(dims.getKernelSpatial().size()) != spatial ||
        static_cast<int64_t>(dims.getOutputSpatial().size()) != spatial)
      return l.error() << "names different numbers of spatial dimensions";
    if (groups < 1 || batchGroups < 1 || (groups > 1 && batchGroups > 1))
      return l.error() << "expects positive group counts, at most one of them above 1";
    RankedTensorType lhs = l.getOperandType(0), rhs = l.getOperandType(1);
    if (lhs.getDimSize(dims.getInputFeature()) % groups != 0 ||
        lhs.getDimSize(dims.getInputBatch()) % batchGroups != 0 ||
        rhs.getDimSize(dims.getKernelOutputFeature()) % (groups * batchGroups) != 0)
      return l.error() << "has group counts that do not divide its features";
    strides = listOr(op.getWindowStrides(), spatial, 1);
    lhsDilations = listOr(op.getLhsDilation(), spatial, 1);
    rhsDilations = listOr(op.getRhsDilation(), spatial, 1);
    low.assign(spatial, 0);
    high.assign(spatial, 0);
    if (op.getPadding() && op.getPadding()->getNumElements() != 2 * spatial)
      return l.error() << "has padding of another rank";
    if (op.getPadding())
      for (auto [i, amount] : llvm::enumerate(op.getPadding()->getValues<int64_t>()))
        (i % 2 ? high : low)[i / 2] = amount;
    for (auto* list : {&strides, &lhsDilations, &rhsDilations})
      if (static_cast<int64_t>(list->size()) != spatial || llvm::any_of(*list, [](int64_t v) { return v < 1; }))
        return l.error() << "expects a positive stride and dilation for each spatial dimension";
    return success();
  }

  /// Zeros put around the lhs by an op of their own, and between its elements, are the convolution's padding.
  Value foldPadding() {
    Value lhs = l.operands[0];
    auto pad = lhs.getDefiningOp<PadOp>();
    if (!pad || !isNeutral(l, pad.getValue(), ReduceKind::Add)) return lhs;
    for (int64_t dim : {dims.getInputBatch(), dims.getInputFeature()})
      if (pad.getLow()[dim] != 0 || pad.getHigh()[dim] != 0 || pad.getInterior()[dim] != 0) return lhs;
    for (auto [i, dim] : llvm::enumerate(dims.getInputSpatial())) {
      // Padding that is dilated in its turn does not begin and end as padding does.
      if (lhsDilations[i] != 1 && (pad.getLow()[dim] != 0 || pad.getHigh()[dim] != 0)) return lhs;
      if (tensorType(pad.getInput()).getDimSize(dim) == 0) return lhs;
    }
    for (auto [i, dim] : llvm::enumerate(dims.getInputSpatial())) {
      low[i] += pad.getLow()[dim];
      high[i] += pad.getHigh()[dim];
      lhsDilations[i] *= pad.getInterior()[dim] + 1;
    }
    return pad.getInput();
  }

  /// Integers widen to the result's type, as for dot_general, by the sign of their `original` type; floats of one width
  /// are what JAX writes.
  Value convert(Value value, Type original, Type element) {
    Type from = tensorType(value).getElementType();
    if (from == element) return value;
    RankedTensorType type = tensorType(value).clone(element);
    bool widens = from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
    if (isa<FloatType>(element))
      return widens ? l.create<arith::ExtFOp>(type, value) : l.create<arith::TruncFOp>(type, value);
    if (!widens) return l.create<arith::TruncIOp>(type, value);
    return isUnsigned(original) ? l.create<arith::ExtUIOp>(type, value) : l.create<arith::ExtSIOp>(type, value);
  }

  /// [N, s.., G, C]. Groups of the batch become groups of features: each has its own part of the batch.
  Value prepareLhs(Value lhs) {
    bool splitsBatch = op.getBatchGroupCount() != 1;
    int64_t group = splitsBatch ? dims.getInputBatch() : dims.getInputFeature();
    auto behind = [&](int64_t dim) { return dim >= group ? dim + 1 : dim; };
    SmallVector<int64_t> order = {behind(dims.getInputBatch())};
    for (int64_t dim : dims.getInputSpatial()) order.push_back(behind(dim));
    order.append({group, behind(dims.getInputFeature())});
    return transpose(l, split(l, lhs, group, getGroups()), order);
  }

  /// [k.., G, C, O]: the output features of the input are those of all groups.
  Value prepareRhs(Value rhs) {
    int64_t group = dims.getKernelOutputFeature();
    auto behind = [&](int64_t dim) { return dim >= group ? dim + 1 : dim; };
    rhs = split(l, rhs, group, getGroups());
    SmallVector<int64_t> order = llvm::map_to_vector(dims.getKernelSpatial(), behind), reversed;
    if (op.getWindowReversal())
      for (auto [dim, isReversed] : llvm::enumerate(*op.getWindowReversal()))
        if (isReversed) reversed.push_back(order[dim]);
    if (!reversed.empty()) rhs = l.create<ReverseOp>(rhs, reversed);
    order.append({group, behind(dims.getKernelInputFeature()), group + 1});
    return transpose(l, rhs, order);
  }

  int64_t getGroups() { return op.getFeatureGroupCount() * op.getBatchGroupCount(); }

  RankedTensorType getType() {
    RankedTensorType result = l.getResultType();
    SmallVector<int64_t> shape = {result.getDimSize(dims.getOutputBatch())};
    for (int64_t dim : dims.getOutputSpatial()) shape.push_back(result.getDimSize(dim));
    shape.push_back(getGroups());
    shape.push_back(result.getDimSize(dims.getOutputFeature()) / getGroups());
    return result.clone(shape);
  }

  /// From [N, o.., G, O] to the order that the op asks for.
  Value finish(Value convolution) {
    SmallVector<int64_t> order(spatial + 2);
    order[dims.getOutputBatch()] = 0;
    for (auto [i, dim] : llvm::enumerate(dims.getOutputSpatial())) order[dim] = i + 1;
    order[dims.getOutputFeature()] = spatial + 1;
    order.insert(order.begin() + dims.getOutputFeature() + 1, spatial + 2);
    return reshape(l, transpose(l, convolution, order), l.getResultType().getShape());
  }

  OpLowering& l;
  stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr dims;
  int64_t spatial;
  SmallVector<int64_t> strides, low, high, lhsDilations, rhsDilations;
};

LogicalResult lowerConvolution(OpLowering& l) { return ConvolutionLowering(l).run(); }

}  // namespace

void mlir::sgd::addConvolutionLowerings(LoweringTable& table) { table["stablehlo.convolution"] = lowerConvolution; }
