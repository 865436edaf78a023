// Random numbers. A program has one generator, which counts: an element depends on its position and the generator's
// state alone, so that a mask is the same on any mesh.
#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/random_numbers.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Value AtenOp::drawUniform(RankedTensorType type) {
  Value words = drawBits(math, type.clone(math.getBuilder().getI32Type()));
  return convert(writeUniform(math, words), type.getElementType());
}

Value AtenOp::drawNormal(RankedTensorType type) {
  Value words = drawBits(math, type.clone(math.getBuilder().getI32Type()));
  return convert(writeNormal(math, words), type.getElementType());
}

Value AtenOp::dropOut(Value value, double p, Value& kept) {
  RankedTensorType type = tensorType(value);
  RankedTensorType words = type.clone(math.getBuilder().getI32Type());
  auto threshold = static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1));
  Value bound = math.splat(words, int64_t{static_cast<int32_t>(threshold)});
  kept = math.create<arith::CmpIOp>(arith::CmpIPredicate::uge, drawBits(math, words), bound);
  Value zero = math.splat(type, 0.0);
  if (p >= 1) return chooseByMode(zero, value);
  return chooseByMode(math.select(kept, math.multiply(value, math.splat(type, 1 / (1 - p))), zero), value);
}

namespace {

/// With a second output: which elements are kept.
LogicalResult lowerDropout(AtenOp& op) {
  Value value = op.operand(op.has("input") ? "input" : "self", op.type()), kept;
  double p = op.number("p", 0.5);
  if (!(p >= 0 && p <= 1)) return op.error() << "has the probability " << p << "; expected 0 to 1";
  bool isTraining = op.flag("train", true) && p > 0;
  if (isTraining) value = op.dropOut(value, p, kept);
  (void)op.finish(value);
  if (op.getNumOutputs() < 2) return success();
  return op.finish(kept ? kept : op.constant(op.type(1), 1), 1);
}

LogicalResult lowerUniform(AtenOp& op) { return op.finish(op.drawUniform(op.type())); }
LogicalResult lowerNormal(AtenOp& op) { return op.finish(op.drawNormal(op.type())); }

/// 1 with the probability that `self` has, or `p`.
LogicalResult lowerBernoulli(AtenOp& op) {
  RankedTensorType floats = op.type().clone(op.math.getBuilder().getF32Type());
  Value probability = op.has("p") ? op.math.splat(floats, op.number("p", 0.5)) : op.operand("self", floats);
  return op.finish(op.convert(op.math.isLess(op.drawUniform(floats), probability), op.element()));
}

}  // namespace

void mlir::sgd::torch::addRandomOps(OpTable& table) {
  for (StringRef name : {"dropout.default", "native_dropout.default"}) table[name] = {lowerDropout, {"input"}};
  table["dropout_.default"] = {lowerDropout, {"self"}};
  for (StringRef name : {"rand.default", "rand_like.default"}) table[name] = {lowerUniform, {}};
  for (StringRef name : {"randn.default", "randn_like.default"}) table[name] = {lowerNormal, {}};
  for (StringRef name : {"bernoulli.default", "bernoulli.p"}) table[name] = {lowerBernoulli, {"self"}};
}
