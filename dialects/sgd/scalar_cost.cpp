// Ops of the math dialect are functions but for those that processors have.
#include "dialects/sgd/scalar_cost.h"

#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

ScalarCost mlir::sgd::getScalarCost(Operation* op) {
  if (isa<arith::DivFOp, arith::RemFOp, math::SqrtOp>(op)) return ScalarCost::Division;
  bool isInstruction =
      !isa<math::MathDialect>(op->getDialect()) ||
      isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp, math::FloorOp, math::CeilOp, math::IsFiniteOp>(op);
  return isInstruction ? ScalarCost::Instruction : ScalarCost::Function;
}
