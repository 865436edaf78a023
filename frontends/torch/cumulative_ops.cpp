// Running sums, products and extrema, differences and integrals along a dimension.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

LogicalResult lowerCumulativeSum(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  if (tensorType(value).getRank() == 0) return op.finish(value);
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank());
  return op.finish(op.math.create<CumulativeOp>(op.type(), value, ReduceKind::Add, dim, /*reverse=*/false));
}

/// `value` moved by `distance` along `dim`, with `fill` in front.
Value shift(AtenOp& op, Value value, int64_t dim, int64_t distance, double fill) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> low(type.getRank(), 0), high(low), none(low);
  low[dim] = distance, high[dim] = -distance;
  Value scalar = op.constant(RankedTensorType::get({}, type.getElementType()), fill);
  return op.math.create<PadOp>(type, value, scalar, low, high, none);
}

/// Combines each element with all before it in log2(size) steps (W. Hillis, G. Steele, "Data parallel algorithms",
/// 1986), so that the derivative is that of `combine`.
template <typename Combine>
Value scan(AtenOp& op, Value value, int64_t dim, double neutral, Combine combine) {
  for (int64_t distance = 1; distance < shapeOf(value)[dim]; distance *= 2)
    value = combine(value, shift(op, value, dim, distance, neutral));
  return value;
}

LogicalResult lowerCumulativeProduct(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  if (tensorType(value).getRank() == 0) return op.finish(value);
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank());
  return op.finish(scan(op, value, dim, 1, [&](Value a, Value b) { return op.math.multiply(a, b); }));
}

/// log of the running sum of exponentials.
LogicalResult lowerLogCumulativeSumExp(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  if (tensorType(value).getRank() == 0) return op.finish(value);
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return op.finish(scan(op, value, dim, -kInfinity, [&](Value a, Value b) { return writeLogAddExp(op.math, a, b); }));
}

/// Running extrema, each with the last position so far that has it.
template <ReduceKind kind>
LogicalResult lowerCumulativeExtremum(AtenOp& op) {
  Value value = op.tensor("self");
  RankedTensorType type = tensorType(value);
  if (type.getRank() == 0) {
    (void)op.finish(value, 0);
    return op.finish(op.constant(op.type(1), 0), 1);
  }
  int64_t dim = wrapDim(op.integer("dim", 0), type.getRank());
  bool isBoolean = type.getElementType().isInteger(1);
  Value ordered = isBoolean ? op.convert(value, op.math.getBuilder().getI8Type()) : value;
  Value extremum = op.math.create<CumulativeOp>(ordered.getType(), ordered, kind, dim, /*reverse=*/false);
  Value isFound = op.math.isEqual(ordered, extremum), place = op.math.iota(type.getShape(), dim);
  if (isa<FloatType>(type.getElementType())) {
    Value isNan = op.math.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
    isFound = op.math.create<arith::OrIOp>(isFound, isNan);
  }
  Value seen = op.math.select(isFound, place, op.math.splat(tensorType(place), int64_t{-1}));
  Value last = op.math.create<CumulativeOp>(seen.getType(), seen, ReduceKind::Max, dim, /*reverse=*/false);
  (void)op.finish(op.convert(extremum, op.element(0)), 0);
  return op.finish(op.convert(last, op.element(1)), 1);
}

// Differences and integrals
// -----------------------------------------------------------------------------------------------------------------

/// The two neighbours of each gap along `dim`.
std::pair<Value, Value> getNeighbours(TensorMath& math, Value value, int64_t dim) {
  int64_t size = shapeOf(value)[dim];
  return {takeSlice(math, value, dim, 0, std::max<int64_t>(size - 1, 0)),
          takeSlice(math, value, dim, std::min<int64_t>(1, size), size)};
}

LogicalResult lowerDifference(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  int64_t dim = wrapDim(op.integer("dim", -1), tensorType(value).getRank());
  if (op.integer("n", 1) == 0) return op.finish(value);
  SmallVector<Value> parts;
  for (StringRef name : {"prepend", "self", "append"})
    if (Value part = op.tensor(name)) parts.push_back(op.convert(part, op.element()));
  for (Value part : parts)
    if (failed(op.requireSameRank(part, value))) return failure();
  value = op.math.concatenate(parts, dim);
  for (int64_t round = 0, rounds = op.integer("n", 1); round < rounds && shapeOf(value)[dim] > 0; ++round) {
    auto [before, behind] = getNeighbours(op.math, value, dim);
    value =
        op.element().isInteger(1) ? op.math.create<arith::XOrIOp>(behind, before) : op.math.subtract(behind, before);
  }
  return op.finish(value);
}

/// Finite differences along a dimension by the distances of its points, a vector: of second order inside, of
/// `edgeOrder` at both ends. A quotient is a sum of values times weights that distances give.
class Slope {
 public:
  Slope(TensorMath& math, Value values, Value gaps, int64_t dim, int64_t edgeOrder)
      : math(math), values(values), gaps(gaps), dim(dim), edgeOrder(edgeOrder) {}

  Value write() {
    int64_t size = shapeOf(values)[dim], last = size - 1;
    Value before = getGaps(0, last - 1), behind = getGaps(1, last), sum = math.add(before, behind);
    Value product = math.multiply(before, behind), change = math.subtract(behind, before);
    Value left = math.minus(math.divide(behind, math.multiply(before, sum)));
    Value right = math.divide(before, math.multiply(behind, sum));
    Value inside = math.add(weigh(math.divide(change, product), 1, last), weigh(left, 0, last - 1));
    inside = math.add(inside, weigh(right, 2, size));
    return math.concatenate({writeEdge(0, 1, 2, 0, 1), inside, writeEdge(last, last - 1, last - 2, last - 1, last - 2)},
                            dim);
  }

 private:
  Value getGaps(int64_t begin, int64_t end) { return takeSlice(math, gaps, 0, begin, end); }
  /// Elements [begin, end) times weights.
  Value weigh(Value weights, int64_t begin, int64_t end) {
    Value part = takeSlice(math, values, dim, begin, end);
    return math.multiply(part, math.broadcast(weights, dim, shapeOf(part)));
  }
  /// At the end `first`, from it and the next two points, by the gaps between them.
  Value writeEdge(int64_t first, int64_t second, int64_t third, int64_t nearGap, int64_t farGap) {
    Value near = getGaps(nearGap, nearGap + 1), far = getGaps(farGap, farGap + 1);
    Value one = math.splat(tensorType(near), first == 0 ? 1.0 : -1.0);
    if (edgeOrder == 1) {
      Value slope = math.divide(one, near);
      return math.add(weigh(slope, second, second + 1), weigh(math.minus(slope), first, first + 1));
    }
    Value sum = math.add(near, far);
    Value a = math.minus(math.divide(math.add(sum, near), math.multiply(near, sum)));
    Value b = math.divide(sum, math.multiply(near, far)), c = math.minus(math.divide(near, math.multiply(far, sum)));
    Value result = weigh(math.multiply(a, one), first, first + 1);
    result = math.add(result, weigh(math.multiply(b, one), second, second + 1));
    return math.add(result, weigh(math.multiply(c, one), third, third + 1));
  }

  TensorMath& math;
  Value values, gaps;
  int64_t dim, edgeOrder;
};

/// Slopes along each dimension, by one distance, one per dimension, or the coordinates of points.
LogicalResult lowerGradient(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  int64_t rank = tensorType(value).getRank(), edgeOrder = op.integer("edge_order", 1);
  SmallVector<int64_t> dims = op.has("dim") ? op.integers("dim") : llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<double> distances = op.numbers("spacing");
  SmallVector<Value> coordinates = op.tensors("spacing");
  for (auto [output, dim] : llvm::enumerate(dims)) {
    dim = wrapDim(dim, rank);
    int64_t size = shapeOf(value)[dim];
    bool isListed = distances.size() == dims.size() || coordinates.size() == dims.size();
    if (output >= op.getNumOutputs() || edgeOrder < 1 || edgeOrder > 2 || size <= edgeOrder ||
        (!isListed && (!distances.empty() || !coordinates.empty())))
      return op.error() << "has dimension " << dim << " of size " << size << ", or distances, that do not fit";
    auto type = RankedTensorType::get({size - 1}, op.element());
    Value gaps = op.constant(type, distances.empty() ? op.number("spacing", 1) : distances[output]);
    if (!coordinates.empty()) {
      Value points = coordinates[output];
      if (!points || tensorType(points).getRank() != 1 || shapeOf(points)[0] != size)
        return op.error() << "has coordinates that do not fit; expected a vector for each dimension";
      auto [before, behind] = getNeighbours(op.math, op.convert(points, op.element()), 0);
      gaps = op.math.subtract(behind, before);
    }
    (void)op.finish(Slope(op.math, value, gaps, dim, edgeOrder).write(), output);
  }
  return success();
}

/// The areas of trapezoids between neighbours, added up, or running.
template <bool isRunning>
LogicalResult lowerTrapezoid(AtenOp& op) {
  Value y = op.convert(op.tensor("y"), op.element());
  int64_t rank = tensorType(y).getRank(), dim = wrapDim(op.integer("dim", -1), rank);
  auto [before, behind] = getNeighbours(op.math, y, dim);
  Value area = op.math.add(before, behind);
  RankedTensorType type = tensorType(area);
  Value width = op.constant(type, op.number("dx", 1));
  if (Value x = op.tensor("x")) {
    x = op.convert(x, op.element());
    bool isVector = tensorType(x).getRank() == 1;
    int64_t own = isVector ? 0 : tensorType(x).getRank() - (rank - dim);
    if (own < 0) return op.error() << "has sample points that do not fit; export the model anew";
    auto [left, right] = getNeighbours(op.math, x, own);
    Value gaps = op.math.subtract(right, left);
    width = isVector ? op.math.broadcast(gaps, dim, type.getShape()) : op.expand(gaps, type.getShape());
  }
  // PyTorch halves integers' areas in floats; the result's type says so.
  Value product = op.math.multiply(area, width);
  Value halves = isa<FloatType>(op.element()) ? op.math.multiply(product, op.constant(type, 0.5))
                                              : op.math.create<DivSIOp>(product, op.constant(type, 2));
  if (isRunning) return op.finish(op.math.create<CumulativeOp>(type, halves, ReduceKind::Add, dim, /*reverse=*/false));
  return op.finish(op.math.reduce(halves, ReduceKind::Add, dim));
}

}  // namespace

void mlir::sgd::torch::addCumulativeOps(OpTable& table) {
  enter(table, {"cumsum.default"}, lowerCumulativeSum);
  enter(table, {"cumprod.default"}, lowerCumulativeProduct);
  enter(table, {"logcumsumexp.default", "_logcumsumexp.default"}, lowerLogCumulativeSumExp);
  enter(table, {"cummax.default"}, lowerCumulativeExtremum<ReduceKind::Max>);
  enter(table, {"cummin.default"}, lowerCumulativeExtremum<ReduceKind::Min>);
  enter(table, {"diff.default"}, {lowerDifference, {"self"}, 1});
  enter(table,
        {"gradient.scalarint", "gradient.scalararray", "gradient.array", "gradient.scalarrayint",
         "gradient.scalarrayarray", "gradient.tensorarrayint", "gradient.tensorarray"},
        {lowerGradient, {"self"}, 1});
  enter(table, {"trapezoid.dx", "trapz.dx", "trapezoid.x", "trapz.x"}, {lowerTrapezoid<false>, {"y"}, 1});
  enter(table, {"cumulative_trapezoid.dx", "cumulative_trapezoid.x"}, {lowerTrapezoid<true>, {"y"}, 1});
}
