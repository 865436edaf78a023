// One case per op that polynomials are made of.
#include "passes/kernels/epilogues/gelu_reader.h"

#include "dialects/sgd/splat.h"

using namespace mlir;
using namespace mlir::sgd;

/// Constants of the program are rounded to the element type, and up to three of them are multiplied.
static double getTolerance(Type element) { return element.isBF16() ? 0x1p-7 : 0x1p-10; }

static std::optional<GeluPolynomial> power(const GeluPolynomial& base, double exponent) {
  if (exponent == 2) return base * base;
  if (exponent == 3) return base * base * base;
  return std::nullopt;
}

GeluReader::GeluReader(Value x, Value p)
    : tolerance(getTolerance(getElementTypeOrSelf(x.getType()))),
      shape(cast<RankedTensorType>(x.getType()).getShape()) {
  known[x] = GeluPolynomial(GeluVariable::X);
  if (p) known[p] = GeluPolynomial(GeluVariable::P);
}

std::optional<GeluPolynomial> GeluReader::read(Value value) {
  if (auto found = known.find(value); found != known.end()) return found->second;
  std::optional<GeluPolynomial> result = readNew(value);
  if (result && result->isTooLarge()) result.reset();
  known[value] = result;
  return result;
}

bool GeluReader::isNear(Value value, const GeluPolynomial& wanted) {
  std::optional<GeluPolynomial> polynomial = read(value);
  return polynomial && polynomial->isNear(wanted, tolerance);
}

std::optional<GeluPolynomial> GeluReader::readNew(Value value) {
  Operation* op = value.getDefiningOp();
  if (!op) return std::nullopt;
  if (std::optional<double> constant = getSplat(value)) return GeluPolynomial(*constant);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getShape() != ArrayRef<int64_t>(shape) || !op->hasTrait<OpTrait::Elementwise>())
    return std::nullopt;
  SmallVector<GeluPolynomial, 2> operands;
  for (Value operand : op->getOperands()) {
    std::optional<GeluPolynomial> polynomial = read(operand);
    if (!polynomial) return std::nullopt;
    operands.push_back(*polynomial);
  }
  return combine(op, operands);
}

std::optional<GeluPolynomial> GeluReader::combine(Operation* op, ArrayRef<GeluPolynomial> operands) const {
  const GeluPolynomial minusOne(-1.0);
  // The types between are as precise as x, or more.
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) return operands[0];
  if (isa<arith::NegFOp>(op)) return minusOne * operands[0];
  if (isa<arith::AddFOp>(op)) return operands[0] + operands[1];
  if (isa<arith::SubFOp>(op)) return operands[0] + minusOne * operands[1];
  if (isa<arith::MulFOp>(op)) return operands[0] * operands[1];
  if (isa<arith::DivFOp>(op) && operands[1].isConstant() && operands[1].getConstant() != 0)
    return operands[0] * GeluPolynomial(1 / operands[1].getConstant());
  if (isa<math::PowFOp>(op) && operands[1].isConstant()) return power(operands[0], operands[1].getConstant());
  if (isa<math::TanhOp>(op) && operands[0].isNear(GeluPolynomial::getTanhArgument(), tolerance))
    return GeluPolynomial(GeluVariable::T);
  return std::nullopt;
}
