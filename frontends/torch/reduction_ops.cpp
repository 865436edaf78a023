// Reductions, softmax, norms.
#include <cmath>

#include "dialects/sgd/linear_algebra.h"
#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/losses.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Value mlir::sgd::torch::writeNorm(TensorMath& math, Value value, double order, ArrayRef<int64_t> dims) {
  auto reduce = [&](Value of, ReduceKind kind) { return reduceKeeping(math, of, kind, dims); };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Value magnitude = math.absolute(value);
  // Of no elements.
  if (order > 0 && tensorType(value).getNumElements() == 0) return reduce(magnitude, ReduceKind::Add);
  if (std::isinf(order)) return reduce(magnitude, order > 0 ? ReduceKind::Max : ReduceKind::Min);
  if (order == 1) return reduce(magnitude, ReduceKind::Add);
  RankedTensorType type = tensorType(value);
  if (order == 0) {
    Value zero = math.splat(type, 0.0), isZero = math.isEqual(value, zero);
    return reduce(math.select(isZero, zero, math.splat(type, 1.0)), ReduceKind::Add);
  }
  Value power =
      order == 2 ? math.multiply(value, value) : math.create<math::PowFOp>(magnitude, math.splat(type, order));
  Value sum = reduce(power, ReduceKind::Add);
  RankedTensorType small = tensorType(sum);
  // The root has no derivative at 0.
  Value isZero = math.isEqual(sum, math.splat(small, 0.0)), safe = math.select(isZero, math.splat(small, 1.0), sum);
  Value root =
      order == 2 ? math.create<math::SqrtOp>(safe) : math.create<math::PowFOp>(safe, math.splat(small, 1 / order));
  return math.select(isZero, math.splat(small, order > 0 ? 0.0 : kInfinity), root);
}

namespace {

/// The dimensions of `dim` or `dims`, all where there are none.
SmallVector<int64_t> getDims(AtenOp& op, Value value) {
  int64_t rank = tensorType(value).getRank();
  SmallVector<int64_t> dims = op.integers("dim");
  if (dims.empty()) return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t& dim : dims) dim = wrapDim(dim, rank);
  llvm::sort(dims);
  return dims;
}

/// In the result's shape. The largest of booleans is whether any is true.
Value reduce(AtenOp& op, Value value, ReduceKind kind, ArrayRef<int64_t> dims, unsigned output = 0) {
  ArrayRef<int64_t> shape = op.type(output).getShape();
  if (tensorType(value).getRank() == 0) return op.math.reshape(value, shape);
  if (tensorType(value).getElementType().isInteger(1))
    kind = kind == ReduceKind::Max ? ReduceKind::Or : kind == ReduceKind::Min ? ReduceKind::And : kind;
  return op.math.reshape(op.math.reduce(value, kind, dims), shape);
}

int64_t countElements(Value value, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (tensorType(value).getRank()) count *= shapeOf(value)[dim];
  return count;
}

template <ReduceKind kind>
LogicalResult lowerReduce(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  return op.finish(reduce(op, value, kind, getDims(op, value)));
}

LogicalResult lowerMean(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  SmallVector<int64_t> dims = getDims(op, value);
  Value sum = reduce(op, value, ReduceKind::Add, dims);
  return op.finish(op.math.divide(sum, op.splat(static_cast<double>(countElements(value, dims)))));
}

Value average(AtenOp& op, Value value, ArrayRef<int64_t> dims) {
  Value sum = reduceKeeping(op.math, value, ReduceKind::Add, dims);
  return op.math.divide(sum, op.math.splat(tensorType(sum), static_cast<double>(countElements(value, dims))));
}

/// Of the elements that are no NaN.
template <bool isMean>
LogicalResult lowerNanSum(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  SmallVector<int64_t> dims = getDims(op, value);
  if (!isa<FloatType>(op.element())) return op.finish(reduce(op, value, ReduceKind::Add, dims));
  Value isNan = op.math.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  Value zero = op.constant(tensorType(value), 0), one = op.constant(tensorType(value), 1);
  Value sum = reduce(op, op.math.select(isNan, zero, value), ReduceKind::Add, dims);
  if (!isMean) return op.finish(sum);
  return op.finish(op.math.divide(sum, reduce(op, op.math.select(isNan, zero, one), ReduceKind::Add, dims)));
}

/// The variance, with `correction` fewer elements than there are, one by default; its root; the mean as a second
/// output.
template <bool isRoot>
LogicalResult lowerVariance(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  SmallVector<int64_t> dims = getDims(op, value);
  double count = static_cast<double>(countElements(value, dims));
  double correction = op.has("correction") ? op.number("correction", 1) : op.flag("unbiased", true) ? 1 : 0;
  Value mean = average(op, value, dims), distance = op.math.subtract(value, stretch(op.math, mean, shapeOf(value)));
  Value sum = reduce(op, op.math.multiply(distance, distance), ReduceKind::Add, dims);
  Value variance = op.math.divide(sum, op.splat(std::max(0.0, count - correction)));
  (void)op.finish(isRoot ? op.math.create<math::SqrtOp>(variance) : variance);
  return op.getNumOutputs() < 2 ? success() : op.finish(op.math.reshape(mean, op.type(1).getShape()), 1);
}

template <bool isLogarithm>
LogicalResult lowerSoftmax(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  return op.finish(
      writeSoftmax(op.math, value, wrapDim(op.integer("dim", -1), tensorType(value).getRank()), isLogarithm));
}

/// From the largest element, if it is finite.
LogicalResult lowerLogSumExp(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  SmallVector<int64_t> dims = getDims(op, value);
  if (tensorType(value).getRank() == 0) return op.finish(value);
  Value largest = reduceKeeping(op.math, value, ReduceKind::Max, dims);
  RankedTensorType type = tensorType(largest);
  Value isFinite =
      op.math.isLess(op.math.absolute(largest), op.math.splat(type, std::numeric_limits<double>::infinity()));
  Value base = stopGradient(op.math.select(isFinite, largest, op.math.splat(type, 0.0)));
  Value shifted = op.math.subtract(value, stretch(op.math, base, shapeOf(value)));
  Value sum = reduceKeeping(op.math, op.math.exponential(shifted), ReduceKind::Add, dims);
  return op.finish(op.math.reshape(op.math.add(op.math.create<math::LogOp>(sum), base), op.type().getShape()));
}

LogicalResult lowerBothExtrema(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> dims = getDims(op, value);
  (void)op.finish(reduce(op, value, ReduceKind::Min, dims), 0);
  return op.finish(reduce(op, value, ReduceKind::Max, dims, 1), 1);
}

/// To the shape that was broadcast to this one.
LogicalResult lowerSumToSize(AtenOp& op) {
  Value value = op.tensor("self");
  SmallVector<int64_t> dims;
  int64_t missing = tensorType(value).getRank() - op.type().getRank();
  for (auto [dim, size] : llvm::enumerate(shapeOf(value))) {
    auto at = static_cast<int64_t>(dim);
    if (at < missing || (op.type().getDimSize(at - missing) == 1 && size != 1)) dims.push_back(at);
  }
  return op.finish(dims.empty() ? value : reduce(op, value, ReduceKind::Add, dims));
}

/// Booleans: whether any, or all, are true.
template <ReduceKind kind>
LogicalResult lowerLogical(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.math.getBuilder().getI1Type());
  return op.finish(op.convert(reduce(op, value, kind, getDims(op, value)), op.element()));
}

LogicalResult lowerCountNonzero(AtenOp& op) {
  Value isNonzero = op.convert(op.tensor("self"), op.math.getBuilder().getI1Type());
  return op.finish(reduce(op, op.convert(isNonzero, op.element()), ReduceKind::Add, getDims(op, isNonzero)));
}

LogicalResult finishNorm(AtenOp& op, Value value, double order, ArrayRef<int64_t> dims) {
  if (tensorType(value).getRank() == 0) dims = {};
  return op.finish(op.math.reshape(writeNorm(op.math, value, order, dims), op.type().getShape()));
}

LogicalResult lowerNorm(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  double order = op.has("ord") ? op.number("ord", 2) : op.number("p", 2);
  return finishNorm(op, value, order, getDims(op, value));
}

/// Sums, largest or smallest of the singular values of matrices in the last two dimensions.
Value writeSpectralNorm(AtenOp& op, Value matrices, ReduceKind kind) {
  RankedTensorType type = tensorType(matrices);
  Type element = type.getElementTypeBitWidth() == 64 ? type.getElementType() : op.math.getBuilder().getF32Type();
  Value values = createLinearAlgebra(op.math.getBuilder(), op.math.getLoc(), LinearAlgebraKind::Svd, /*options=*/0,
                                     op.convert(matrices, element))
                     ->getResult(0);
  return op.convert(op.math.reduce(values, kind, tensorType(values).getRank() - 1), type.getElementType());
}

/// The norm that singular values give: their sum, the largest or the smallest one.
LogicalResult finishSpectralNorm(AtenOp& op, Value value, ArrayRef<int64_t> dims, ReduceKind kind) {
  if (tensorType(value).getNumElements() == 0) return op.finish(op.splat(0));
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < tensorType(value).getRank(); ++dim)
    if (!llvm::is_contained(dims, dim)) order.push_back(dim);
  llvm::append_range(order, dims);
  Value norm = writeSpectralNorm(op, op.math.transpose(value, order), kind);
  return op.finish(op.math.reshape(norm, op.type().getShape()));
}

/// The Frobenius norm, or the largest, or smallest, sum of magnitudes of columns or rows. linalg.norm takes norms of
/// vectors too.
template <bool isMatrix>
LogicalResult lowerMatrixNorm(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  int64_t rank = tensorType(value).getRank();
  SmallVector<int64_t> dims = isMatrix ? op.integers("dim", {-2, -1}) : op.integers("dim");
  for (int64_t& dim : dims) dim = wrapDim(dim, rank);
  if (dims.empty()) dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  StringRef name = op.text("ord", op.has("ord") ? "" : "fro");
  double order = name == "fro" ? 2 : op.number("ord", 2);
  if (name == "fro" || dims.size() == 1) return finishNorm(op, value, order, dims);
  bool isSpectral = name == "nuc" || (name.empty() && std::fabs(order) == 2);
  if (dims.size() != 2 || dims[0] == dims[1] ||
      !(isSpectral || (name.empty() && (std::fabs(order) == 1 || std::isinf(order)))))
    return op.error() << "is a norm that is not defined; expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf of a matrix";
  if (isSpectral) {
    ReduceKind kind = name == "nuc" ? ReduceKind::Add : order > 0 ? ReduceKind::Max : ReduceKind::Min;
    return finishSpectralNorm(op, value, dims, kind);
  }
  if (order > 0 && tensorType(value).getNumElements() == 0) return op.finish(op.splat(0));
  int64_t summed = std::isinf(order) ? dims[1] : dims[0], compared = std::isinf(order) ? dims[0] : dims[1];
  Value sums = reduceKeeping(op.math, op.math.absolute(value), ReduceKind::Add, summed);
  ReduceKind kind = order > 0 ? ReduceKind::Max : ReduceKind::Min;
  return op.finish(op.math.reshape(reduceKeeping(op.math, sums, kind, compared), op.type().getShape()));
}

/// The norm of self - other.
LogicalResult lowerDistance(AtenOp& op) {
  RankedTensorType type = RankedTensorType::get(op.broadcastShape({"self", "other"}), op.element());
  Value distance = op.math.subtract(op.operand("self", type), op.operand("other", type));
  return finishNorm(op, distance, op.number("p", 2), llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
}

}  // namespace

void mlir::sgd::torch::addReductionOps(OpTable& table) {
  enter(table, {"sum.default", "sum.dim_IntList"}, lowerReduce<ReduceKind::Add>);
  enter(table, {"sum_to_size.default"}, lowerSumToSize);
  enter(table, {"nansum.default"}, lowerNanSum<false>);
  enter(table, {"prod.default", "prod.dim_int"}, lowerReduce<ReduceKind::Mul>);
  enter(table, {"amax.default", "max.default"}, lowerReduce<ReduceKind::Max>);
  enter(table, {"amin.default", "min.default"}, lowerReduce<ReduceKind::Min>);
  enter(table, {"aminmax.default"}, lowerBothExtrema);
  enter(table, {"mean.default", "mean.dim"}, lowerMean);
  enter(table, {"nanmean.default"}, lowerNanSum<true>);
  enter(table, {"var.default", "var.dim", "var.correction", "var_mean.default", "var_mean.dim", "var_mean.correction"},
        lowerVariance<false>);
  enter(table, {"std.default", "std.dim", "std.correction", "std_mean.default", "std_mean.dim", "std_mean.correction"},
        lowerVariance<true>);
  enter(table, {"softmax.int", "_softmax.default", "special_softmax.default", "_safe_softmax.default"},
        lowerSoftmax<false>);
  enter(table, {"log_softmax.int", "_log_softmax.default", "special_log_softmax.default"}, lowerSoftmax<true>);
  enter(table, {"logsumexp.default", "special_logsumexp.default"}, lowerLogSumExp);
  enter(table, {"any.default", "any.dim", "any.dims"}, lowerLogical<ReduceKind::Or>);
  enter(table, {"all.default", "all.dim", "all.dims"}, lowerLogical<ReduceKind::And>);
  enter(table, {"count_nonzero.default", "count_nonzero.dim_IntList"}, lowerCountNonzero);
  enter(table,
        {"norm.Scalar", "norm.ScalarOpt_dim", "norm.ScalarOpt_dtype", "norm.ScalarOpt_dim_dtype",
         "linalg_vector_norm.default", "frobenius_norm.dim"},
        lowerNorm);
  enter(table, {"linalg_norm.default", "linalg_norm.ord_str"}, lowerMatrixNorm<false>);
  enter(table, {"linalg_matrix_norm.default", "linalg_matrix_norm.str_ord"}, {lowerMatrixNorm<true>, {"self"}, 2});
  enter(table, {"dist.default"}, {lowerDistance, {"self", "other"}});
}
