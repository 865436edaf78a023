// Losses that compare distances or scores with a margin.
#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/special_functions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Arguments repeated to one shape, in the result's type.
SmallVector<Value> getOperands(AtenOp& op, ArrayRef<StringRef> names) {
  auto type = RankedTensorType::get(op.broadcastShape(names), op.element());
  SmallVector<Value> operands;
  for (StringRef name : names) operands.push_back(op.operand(name, type));
  return operands;
}

Value numberLike(AtenOp& op, Value like, double value) { return op.constant(tensorType(like), value); }

/// Zero where x is negative.
Value clampAtZero(AtenOp& op, Value x) { return writeClamp(op.math, x, numberLike(op, x, 0), {}); }

/// x where the target is 1, margin - x where it is -1.
LogicalResult lowerHingeEmbedding(AtenOp& op) {
  SmallVector<Value> operands = getOperands(op, {"self", "target"});
  Value x = operands[0], y = operands[1], zero = numberLike(op, x, 0), one = numberLike(op, x, 1);
  Value margin = clampAtZero(op, op.math.subtract(numberLike(op, x, op.number("margin", 1)), x));
  Value ofOthers = op.math.select(op.math.isEqual(y, one), zero, margin);
  Value ofOnes = op.math.select(op.math.isEqual(y, numberLike(op, x, -1)), zero, x);
  return finishLoss(op, op.math.add(ofOthers, ofOnes));
}

LogicalResult lowerMarginRanking(AtenOp& op) {
  SmallVector<Value> operands = getOperands(op, {"input1", "input2", "target"});
  Value distance = op.math.subtract(operands[1], operands[0]);
  Value margin = numberLike(op, distance, op.number("margin", 0));
  return finishLoss(op, clampAtZero(op, op.math.add(op.math.multiply(operands[2], distance), margin)));
}

LogicalResult lowerSoftMargin(AtenOp& op) {
  SmallVector<Value> operands = getOperands(op, {"self", "target"});
  return finishLoss(op, writeSoftplus(op.math, op.math.minus(op.math.multiply(operands[0], operands[1]))));
}

Value sumLast(AtenOp& op, Value value) {
  return op.math.reduce(value, ReduceKind::Add, tensorType(value).getRank() - 1);
}

/// Rows of scores and their labels; one row where there is no batch.
struct Scores {
  Value scores, labels;
  int64_t rows, classes;
};

FailureOr<Scores> getScores(AtenOp& op, int64_t labelRank) {
  Value scores = op.convert(op.tensor("self"), op.element()), labels = op.tensor("target");
  if (tensorType(scores).getRank() == 0) scores = op.math.reshape(scores, {1});
  int64_t rank = tensorType(scores).getRank();
  if (rank > 2) return op.error() << "has scores of " << rank << " dimensions; expected 1 or 2";
  int64_t classes = shapeOf(scores).back(), rows = rank == 2 ? shapeOf(scores)[0] : 1;
  SmallVector<int64_t> shape{rows};
  if (labelRank == 2) shape.push_back(classes);
  if (tensorType(labels).getNumElements() != rows * (labelRank == 2 ? classes : 1))
    return op.error() << "has labels that do not fit; export the model anew";
  return Scores{op.math.reshape(scores, {rows, classes}), op.math.reshape(labels, shape), rows, classes};
}

/// Losses of rows; a single row's is a scalar where there is no batch.
LogicalResult finishRows(AtenOp& op, Value losses) {
  if (tensorType(op.tensor("self")).getRank() < 2) losses = op.math.reshape(losses, {});
  return finishLoss(op, losses);
}

/// Whether class k is the label: [rows, classes].
Value isClass(AtenOp& op, Value labels, int64_t classes) {
  auto type = RankedTensorType::get({shapeOf(labels)[0], classes}, tensorType(labels).getElementType());
  return op.math.isEqual(op.math.broadcast(labels, 0, type.getShape()), op.count(type, 1));
}

/// The mean over other classes of (margin - score of the label + score of the class)^p, where positive.
LogicalResult lowerMultiMargin(AtenOp& op) {
  FailureOr<Scores> scores = getScores(op, 1);
  if (failed(scores)) return failure();
  TensorMath& math = op.math;
  Value x = scores->scores, isLabel = isClass(op, scores->labels, scores->classes), zero = numberLike(op, x, 0);
  Value own = reduceKeeping(math, math.select(isLabel, x, zero), ReduceKind::Add, 1);
  Value distance =
      math.subtract(math.add(x, numberLike(op, x, op.number("margin", 1))), stretch(math, own, shapeOf(x)));
  Value loss = clampAtZero(op, distance);
  if (op.number("p", 1) == 2) loss = math.multiply(loss, loss);
  if (Value weight = op.tensor("weight")) {
    Value weights = math.broadcast(op.convert(weight, op.element()), 1, shapeOf(x));
    Value ofLabel = reduceKeeping(math, math.select(isLabel, weights, zero), ReduceKind::Add, 1);
    loss = math.multiply(loss, stretch(math, ofLabel, shapeOf(x)));
  }
  Value sum = sumLast(op, math.select(isLabel, zero, loss));
  return finishRows(op, math.divide(sum, numberLike(op, sum, static_cast<double>(scores->classes))));
}

/// The mean over pairs of a label, those before the first -1, and a class that is none, of 1 - difference of scores.
LogicalResult lowerMultiLabelMargin(AtenOp& op) {
  FailureOr<Scores> scores = getScores(op, 2);
  if (failed(scores)) return failure();
  TensorMath& math = op.math;
  Value x = scores->scores, labels = scores->labels;
  int64_t rows = scores->rows, classes = scores->classes;
  Value least =
      math.create<CumulativeOp>(labels.getType(), labels, ReduceKind::Min, /*dimension=*/1, /*reverse=*/false);
  Value isUsed = math.isAtLeast(least, numberLike(op, labels, 0));
  Value safe = math.select(isUsed, labels, numberLike(op, labels, 0));
  SmallVector<int64_t> pairs{rows, classes, classes};  // label, class
  auto numbers = RankedTensorType::get(pairs, tensorType(labels).getElementType());
  auto perLabel = [&](Value of) { return math.broadcast(of, {0, 1}, pairs); };
  auto perClass = [&](Value of) { return math.broadcast(of, {0, 2}, pairs); };
  Value names = math.both(math.isEqual(perLabel(safe), op.count(numbers, 2)), perLabel(isUsed));
  Value isTarget = math.reduce(names, ReduceKind::Or, 1);
  Value ofLabels = gatherAlong(math, x, safe, 1);
  Value one = math.splat(tensorType(x).clone(pairs), 1.0), zero = math.splat(tensorType(x).clone(pairs), 0.0);
  Value loss = clampAtZero(op, math.add(math.subtract(one, perLabel(ofLabels)), perClass(x)));
  Value counts = math.both(perLabel(isUsed), math.negate(perClass(isTarget)));
  Value sum = math.reduce(math.select(counts, loss, zero), ReduceKind::Add, {1, 2});
  if (op.getNumOutputs() > 1)
    (void)op.finish(op.convert(math.reshape(isTarget, op.type(1).getShape()), op.element(1)), 1);
  return finishRows(op, math.divide(sum, numberLike(op, sum, static_cast<double>(classes))));
}

/// 1 - cosine where the target is 1, cosine - margin where it is -1.
LogicalResult lowerCosineEmbedding(AtenOp& op) {
  TensorMath& math = op.math;
  SmallVector<Value> operands = getOperands(op, {"input1", "input2"});
  Value a = operands[0], b = operands[1];
  if (tensorType(a).getRank() < 1) return op.error() << "has scalars as operands; expected vectors";
  auto dot = [&](Value x, Value y) { return sumLast(op, math.multiply(x, y)); };
  Value product = dot(a, b), squareA = dot(a, a), squareB = dot(b, b), eps = numberLike(op, product, 1e-12);
  Value lengths = math.create<math::SqrtOp>(math.multiply(math.add(squareA, eps), math.add(squareB, eps)));
  Value cosine = math.divide(product, lengths), one = numberLike(op, cosine, 1), zero = numberLike(op, cosine, 0);
  Value y = op.operand("target", tensorType(cosine));
  Value near = math.select(math.isEqual(y, one), math.subtract(one, cosine), zero);
  Value far = clampAtZero(op, math.subtract(cosine, numberLike(op, cosine, op.number("margin", 0))));
  far = math.select(math.isEqual(y, numberLike(op, y, -1)), far, zero);
  return finishLoss(op, math.add(near, far));
}

/// The norm of a - b + eps over the last dimension.
Value writePairDistance(AtenOp& op, Value a, Value b, double order, double eps) {
  Value distance = op.math.add(op.math.subtract(a, b), numberLike(op, a, eps));
  int64_t last = tensorType(a).getRank() - 1;
  Value norm = writeNorm(op.math, distance, order, last);
  return op.math.reshape(norm, shapeOf(norm).drop_back());
}

LogicalResult lowerTripletMargin(AtenOp& op) {
  SmallVector<Value> operands = getOperands(op, {"anchor", "positive", "negative"});
  if (tensorType(operands[0]).getRank() < 1) return op.error() << "has scalars as operands; expected vectors";
  double order = op.number("p", 2), eps = op.number("eps", 1e-6);
  Value near = writePairDistance(op, operands[0], operands[1], order, eps);
  Value far = writePairDistance(op, operands[0], operands[2], order, eps);
  if (op.flag("swap", false)) far = op.math.minimum(far, writePairDistance(op, operands[1], operands[2], order, eps));
  Value margin = numberLike(op, near, op.number("margin", 1));
  return finishLoss(op, clampAtZero(op, op.math.subtract(op.math.add(margin, near), far)));
}

LogicalResult lowerPairDistance(AtenOp& op) {
  SmallVector<Value> operands = getOperands(op, {"x1", "x2"});
  if (tensorType(operands[0]).getRank() < 1) return op.error() << "has scalars as operands; expected vectors";
  Value distance = writePairDistance(op, operands[0], operands[1], op.number("p", 2), op.number("eps", 1e-6));
  return op.finish(op.math.reshape(distance, op.type().getShape()));
}

}  // namespace

void mlir::sgd::torch::addMarginLossOps(OpTable& table) {
  enter(table, {"hinge_embedding_loss.default"}, {lowerHingeEmbedding, {"self", "target"}});
  enter(table, {"margin_ranking_loss.default"}, {lowerMarginRanking, {"input1", "input2", "target"}});
  enter(table, {"soft_margin_loss.default"}, {lowerSoftMargin, {"self", "target"}});
  enter(table, {"multi_margin_loss.default"}, {lowerMultiMargin, {"self", "target"}});
  enter(table, {"multilabel_margin_loss.default", "multilabel_margin_loss_forward.default"},
        {lowerMultiLabelMargin, {"self", "target"}});
  enter(table, {"cosine_embedding_loss.default"}, {lowerCosineEmbedding, {"input1", "input2", "target"}});
  enter(table, {"triplet_margin_loss.default"}, {lowerTripletMargin, {"anchor", "positive", "negative"}});
  enter(table, {"pairwise_distance.default"}, {lowerPairDistance, {"x1", "x2"}});
}
