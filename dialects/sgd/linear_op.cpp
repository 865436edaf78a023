// Which ops are linear. Integers wrap, so their sums are exact in any order; floats are taken as numbers.
#include "dialects/sgd/linear_op.h"

#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

#include "dialects/sgd/linear_op.cpp.inc"

bool mlir::sgd::movesOneTensor(Operation* op) {
  return op->hasTrait<MovesElements>() && op->getNumOperands() == 1 && op->getNumResults() == 1;
}

bool mlir::sgd::keepsAllElements(Operation* op) {
  auto getNumElements = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  return movesOneTensor(op) && getNumElements(op->getOperand(0)) == getNumElements(op->getResult(0));
}

Linearity mlir::sgd::getLinearity(Operation* op, unsigned operand, ReduceKind kind) {
  auto linear = dyn_cast<LinearOpInterface>(op);
  return linear ? linear.getLinearity(operand, kind) : Linearity::None;
}

namespace {

/// Ops that combine two values by one of `kinds`.
template <typename Op, ReduceKind... kinds>
struct Combiner : LinearOpInterface::ExternalModel<Combiner<Op, kinds...>, Op> {
  Linearity getLinearity(Operation*, unsigned, ReduceKind kind) const {
    return ((kind == kinds) || ...) ? Linearity::Together : Linearity::None;
  }
};

/// Multiplies, and distributes over addition.
template <typename Op>
struct Multiplication : LinearOpInterface::ExternalModel<Multiplication<Op>, Op> {
  Linearity getLinearity(Operation* op, unsigned, ReduceKind kind) const {
    if (kind == ReduceKind::Mul) return Linearity::Together;
    bool isSquare = op->getOperand(0) == op->getOperand(1);
    return kind == ReduceKind::Add && !isSquare ? Linearity::Alone : Linearity::None;
  }
};

/// Linear in the first operand, of sums alone.
template <typename Op>
struct Scaling : LinearOpInterface::ExternalModel<Scaling<Op>, Op> {
  Linearity getLinearity(Operation* op, unsigned operand, ReduceKind kind) const {
    bool isSelf = op->getNumOperands() == 2 && op->getOperand(0) == op->getOperand(1);
    return operand == 0 && kind == ReduceKind::Add && !isSelf ? Linearity::Alone : Linearity::None;
  }
};

/// Sums of products of its two operands.
struct Contraction : LinearOpInterface::ExternalModel<Contraction, DotGeneralOp> {
  Linearity getLinearity(Operation* op, unsigned, ReduceKind kind) const {
    bool isSquare = op->getOperand(0) == op->getOperand(1);
    return kind == ReduceKind::Add && !isSquare ? Linearity::Alone : Linearity::None;
  }
};

/// A choice that is the same for all that is combined.
struct Choice : LinearOpInterface::ExternalModel<Choice, arith::SelectOp> {
  Linearity getLinearity(Operation*, unsigned operand, ReduceKind) const {
    return operand == 0 ? Linearity::None : Linearity::Together;
  }
};

}  // namespace

template <template <typename> class Model, typename... Ops>
static void attach(MLIRContext& context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

template <ReduceKind kind, typename... Ops>
static void attachCombiners(MLIRContext& context) {
  (Ops::template attachInterface<Combiner<Ops, kind>>(context), ...);
}

void mlir::sgd::attachLinearModels(MLIRContext& context) {
  attachCombiners<ReduceKind::Add, arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(context);
  attachCombiners<ReduceKind::Max, arith::MaximumFOp, arith::MaxSIOp>(context);
  attachCombiners<ReduceKind::Min, arith::MinimumFOp, arith::MinSIOp>(context);
  attachCombiners<ReduceKind::UMax, arith::MaxUIOp>(context);
  attachCombiners<ReduceKind::UMin, arith::MinUIOp>(context);
  attachCombiners<ReduceKind::And, arith::AndIOp>(context);
  attachCombiners<ReduceKind::Or, arith::OrIOp>(context);
  attachCombiners<ReduceKind::Xor, arith::XOrIOp>(context);
  attach<Multiplication, arith::MulFOp, arith::MulIOp>(context);
  attach<Scaling, arith::DivFOp, arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::TruncIOp, arith::ShLIOp, ShLIOp>(
      context);
  DotGeneralOp::attachInterface<Contraction>(context);
  arith::SelectOp::attachInterface<Choice>(context);
}

Linearity PadOp::getLinearity(unsigned operand, ReduceKind kind) {
  OpBuilder builder(getContext());
  auto constant = getValue().getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  bool isNeutral =
      splat && splat.getSplatValue<Attribute>() == getNeutralElement(builder, kind, splat.getElementType());
  return operand == 0 && isNeutral ? Linearity::Alone : Linearity::None;
}

Linearity ReduceOp::getLinearity(unsigned, ReduceKind kind) {
  return kind == getKind() ? Linearity::Alone : Linearity::None;
}
