// Expands dot, dot_general and convolution of complex tensors: to four real ones, or two where one operand is known to
// be real.
#include "frontends/stablehlo/complex/complex_op.h"
#include "frontends/stablehlo/input/library_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Zero in all elements, through what only moves elements.
bool isZero(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
      return elements && elements.isSplat() && elements.getSplatValue<APFloat>().isZero();
    }
    if (!isa<stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp, stablehlo::ReshapeOp, stablehlo::TransposeOp,
             stablehlo::SliceOp, stablehlo::ReverseOp, stablehlo::ConvertOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Leaves out the ops with an operand of zeros, whose results are zeros, even where the other operand is not finite.
LogicalResult expandMatmul(ComplexOp& c) {
  Complex x = c.operand(0), y = c.operand(1);
  auto multiply = [&](Value a, Value b) -> Value {
    if (isZero(a) || isZero(b)) return Value();
    return c.cloneForParts({a, b})->getResult(0);
  };
  auto zero = [&] { return c.splat(cast<RankedTensorType>(getPartType(c.op->getResult(0).getType())), 0.0); };
  auto combine = [&](Value a, Value b, bool subtracts) {
    if (a && b) return subtracts ? c.sub(a, b) : c.add(a, b);
    if (b) return subtracts ? c.neg(b) : b;
    return a ? a : zero();
  };
  Value re = combine(multiply(x.re, y.re), multiply(x.im, y.im), /*subtracts=*/true);
  Value im = combine(multiply(x.re, y.im), multiply(x.im, y.re), /*subtracts=*/false);
  return c.finish(Complex{re, im});
}

}  // namespace

void mlir::sgd::addComplexMatmuls(ExpansionTable& table) {
  table["stablehlo.convolution"] = expandMatmul;
  table["stablehlo.dot"] = expandMatmul;
  table["stablehlo.dot_general"] = expandMatmul;
}
