// The table of linear ops. Floating-point rounding differs with the place of a reduction; ops that would round summands
// to fewer bits than the sum are left out.
#include "passes/partition/partial_values.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isNeutralConstant(Value value, ReduceKind kind) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat) return false;
  OpBuilder builder(value.getContext());
  return splat.getSplatValue<Attribute>() == getNeutralElement(builder, kind, splat.getElementType());
}

bool mlir::sgd::joinsPartials(Operation* op, ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Add:
      return isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(op);
    case ReduceKind::Mul:
      return isa<arith::MulFOp, arith::MulIOp>(op);
    case ReduceKind::Max:
      return isa<arith::MaximumFOp, arith::MaxSIOp>(op);
    case ReduceKind::Min:
      return isa<arith::MinimumFOp, arith::MinSIOp>(op);
    case ReduceKind::UMax:
      return isa<arith::MaxUIOp>(op);
    case ReduceKind::UMin:
      return isa<arith::MinUIOp>(op);
    case ReduceKind::And:
      return isa<arith::AndIOp>(op);
    case ReduceKind::Or:
      return isa<arith::OrIOp>(op);
    case ReduceKind::Xor:
      return isa<arith::XOrIOp>(op);
  }
  llvm_unreachable("all kinds are handled");
}

/// Ops that move or drop elements: right for every kind.
static bool onlyMoves(Operation* op, unsigned operand, ReduceKind kind) {
  if (auto pad = dyn_cast<PadOp>(op)) return operand == 0 && isNeutralConstant(pad.getValue(), kind);
  return isa<TransposeOp, ReshapeOp, SliceOp, ReverseOp>(op);
}

bool mlir::sgd::carriesPartial(Operation* op, unsigned operand, ReduceKind kind) {
  if (onlyMoves(op, operand, kind)) return true;
  // x + 0: the first step of a sum that a frontend writes as a loop.
  if (joinsPartials(op, kind) && isNeutralConstant(op->getOperand(1 - operand), kind))
    return operand == 0 || !isa<arith::SubFOp, arith::SubIOp>(op);
  if (auto reduce = dyn_cast<ReduceOp>(op)) return reduce.getKind() == kind;
  // Products with any whole value are linear too, but arith wants one type for all operands.
  return kind == ReduceKind::Add && (isa<arith::NegFOp, arith::ExtFOp>(op) || scalesPartial(op, operand));
}

bool mlir::sgd::scalesPartial(Operation* op, unsigned operand) {
  bool isScaling = isa<arith::MulFOp>(op) || (isa<arith::DivFOp>(op) && operand == 0);
  auto constant = isScaling ? op->getOperand(1 - operand).getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}
