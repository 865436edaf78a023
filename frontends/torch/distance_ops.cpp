// Distances and similarities of vectors.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Norms of differences of all rows of a [.., P, M] and b [.., R, M]: [.., P, R].
Value writeDistances(TensorMath& math, Value a, Value b, double order) {
  SmallVector<int64_t> leading(shapeOf(a).drop_back(2));
  widenShape(leading, shapeOf(b).drop_back(2));
  int64_t rows = shapeOf(a)[tensorType(a).getRank() - 2], columns = shapeOf(b)[tensorType(b).getRank() - 2],
          size = shapeOf(a).back();
  auto spread = [&](Value value, bool isRow) {
    SmallVector<int64_t> own(shapeOf(value)), wide(leading);
    own.insert(isRow ? own.end() - 1 : own.end() - 2, 1);
    wide.append({rows, columns, size});
    while (own.size() < wide.size()) own.insert(own.begin(), 1);
    return stretch(math, math.reshape(value, own), wide);
  };
  Value distance = math.subtract(spread(a, true), spread(b, false));
  int64_t last = tensorType(distance).getRank() - 1;
  Value norm = writeNorm(math, distance, order, last);
  return math.reshape(norm, shapeOf(norm).drop_back());
}

LogicalResult lowerCdist(AtenOp& op) {
  Value a = op.convert(op.tensor("x1"), op.element()), b = op.convert(op.tensor("x2"), op.element());
  if (tensorType(b).getRank() < 2 || shapeOf(a).back() != shapeOf(b).back())
    return op.error() << "has rows of different sizes; expected one";
  return op.finish(writeDistances(op.math, a, b, op.number("p", 2)));
}

/// Distances of each row to those behind it.
LogicalResult lowerPdist(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  int64_t rows = shapeOf(value)[0];
  SmallVector<int64_t> first, second;
  if (rows > 4096) return op.error() << "has " << rows << " rows; expected at most 4096; use cdist";
  for (int64_t a = 0; a < rows; ++a)
    for (int64_t b = a + 1; b < rows; ++b) first.push_back(a), second.push_back(b);
  if (first.empty()) return op.finish(op.splat(0));
  Value distance =
      op.math.subtract(takeAlong(op.math, value, op.vector(first), 0), takeAlong(op.math, value, op.vector(second), 0));
  return op.finish(op.math.reshape(writeNorm(op.math, distance, op.number("p", 2), 1), op.type().getShape()));
}

/// Products of vectors of at least `eps` length.
LogicalResult lowerCosineSimilarity(AtenOp& op) {
  TensorMath& math = op.math;
  auto type = RankedTensorType::get(op.broadcastShape({"x1", "x2"}), op.element());
  int64_t dim = wrapDim(op.integer("dim", 1), type.getRank());
  if (type.getRank() == 0) type = type.clone(ArrayRef<int64_t>{1});
  auto normalize = [&](StringRef name) {
    Value value = op.operand(name, type), norm = writeNorm(math, value, 2, dim);
    norm = writeClamp(math, norm, math.splat(tensorType(norm), op.number("eps", 1e-8)), {});
    return math.divide(value, stretch(math, norm, type.getShape()));
  };
  Value sum = math.reduce(math.multiply(normalize("x1"), normalize("x2")), ReduceKind::Add, dim);
  return op.finish(math.reshape(sum, op.type().getShape()));
}

/// Products of vectors along a dimension.
LogicalResult lowerVecDot(AtenOp& op) {
  auto type = RankedTensorType::get(op.broadcastShape({"x", "y"}), op.element());
  if (type.getRank() == 0) return op.error() << "has scalars as operands; expected vectors";
  Value product = op.math.multiply(op.operand("x", type), op.operand("y", type));
  return op.finish(op.math.reduce(product, ReduceKind::Add, wrapDim(op.integer("dim", -1), type.getRank())));
}

LogicalResult lowerCross(AtenOp& op) {
  Value a = op.operand("self", op.type()), b = op.operand("other", op.type());
  int64_t rank = op.type().getRank(), dim = wrapDim(op.integer("dim", -1), rank);
  // torch.cross takes the first dimension of three elements.
  if (!op.has("dim") && op.isNamed("cross"))
    for (int64_t at = rank - 1; at >= 0; --at)
      if (op.type().getDimSize(at) == 3) dim = at;
  if (rank < 1 || op.type().getDimSize(dim) != 3)
    return op.error() << "has vectors that are not of 3 elements; expected 3";
  auto take = [&](Value value, int64_t at) { return takeSlice(op.math, value, dim, at % 3, at % 3 + 1); };
  SmallVector<Value> parts;
  for (int64_t at = 0; at < 3; ++at)
    parts.push_back(op.math.subtract(op.math.multiply(take(a, at + 1), take(b, at + 2)),
                                     op.math.multiply(take(a, at + 2), take(b, at + 1))));
  return op.finish(op.math.concatenate(parts, dim));
}

/// Slices along `dim` scaled to a norm of at most `maxnorm`.
LogicalResult lowerRenorm(AtenOp& op) {
  Value value = op.self();
  int64_t rank = op.type().getRank(), dim = wrapDim(op.integer("dim", 0), rank);
  SmallVector<int64_t> others;
  for (int64_t other = 0; other < rank; ++other)
    if (other != dim) others.push_back(other);
  Value norm = writeNorm(op.math, value, op.number("p", 2), others),
        most = op.math.splat(tensorType(norm), op.number("maxnorm", 0));
  Value factor = op.math.divide(most, op.math.add(norm, op.math.splat(tensorType(norm), 1e-7)));
  factor = op.math.select(op.math.isLess(most, norm), factor, op.math.splat(tensorType(norm), 1.0));
  return op.finish(op.math.multiply(value, stretch(op.math, factor, op.type().getShape())));
}

}  // namespace

void mlir::sgd::torch::addDistanceOps(OpTable& table) {
  enter(table, {"cdist.default", "_cdist_forward.default"}, {lowerCdist, {"x1", "x2"}, 2});
  enter(table, {"pdist.default", "_pdist_forward.default"}, {lowerPdist, {"self"}, 2});
  enter(table, {"cosine_similarity.default"}, {lowerCosineSimilarity, {"x1", "x2"}});
  enter(table, {"linalg_vecdot.default"}, {lowerVecDot, {"x", "y"}});
  enter(table, {"cross.default", "linalg_cross.default"}, {lowerCross, {"self", "other"}});
  enter(table, {"renorm.default"}, {lowerRenorm, {"self"}, 1});
}
