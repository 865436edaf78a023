// The one place that tells ops apart for the question whether a result is an update of an argument. No other pass asks
// it, so that it is no property of the ops: a new elementwise op is Elementwise, a new op that moves all elements is
// Same, and any other is None until it gets a line here.
#include "passes/graph/carry/op_links.h"

#include "dialects/spmd/spmd_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

/// The op that makes the elements of `value`, which conversions and broadcasts only repeat.
static Operation* getElementSource(Value value) {
  Operation* op = value.getDefiningOp();
  while (op && (movesOneTensor(op) || isa<arith::ExtFOp, arith::TruncFOp>(op))) op = op->getOperand(0).getDefiningOp();
  return op;
}

static std::optional<double> getConstant(Value value) {
  auto constant = dyn_cast_or_null<arith::ConstantOp>(getElementSource(value));
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat()) return std::nullopt;
  if (isa<FloatType>(elements.getElementType())) return elements.getSplatValue<APFloat>().convertToDouble();
  if (elements.getElementType().isInteger(1)) return std::nullopt;
  if (isa<IntegerType>(elements.getElementType()))
    return static_cast<double>(elements.getSplatValue<APInt>().getSExtValue());
  return std::nullopt;
}

Link mlir::sgd::getFactorLink(Value factor, bool isQuotient) {
  if (std::optional<double> constant = getConstant(factor)) {
    double scale = isQuotient && *constant != 0 ? 1 / *constant : *constant;
    return scale == 1 ? Link::Same : scale > 0.5 && scale < 1 ? Link::NearOne : Link::Scaled;
  }
  auto difference = dyn_cast_or_null<arith::SubFOp>(getElementSource(factor));
  bool isOneMinus = difference && !isQuotient && getConstant(difference.getLhs()) == 1.0;
  return isOneMinus ? Link::NearOne : Link::Scaled;
}

/// Ops that leave the elements of operand 0 as they are, as far as links go.
static bool keepsElements(Operation* op) {
  return keepsAllElements(op) ||
         isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
}

OpLinks mlir::sgd::getOpLinks(Operation* op) {
  using Form = OpLinks::Form;
  auto all = [&](Link link) { return OpLinks{Form::Each, SmallVector<Link, 3>(op->getNumOperands(), link)}; };
  auto first = [&](Link link) {
    OpLinks links = all(Link::None);
    links.operands[0] = link;
    return links;
  };
  if (keepsElements(op)) return first(Link::Same);
  return llvm::TypeSwitch<Operation*, OpLinks>(op)
      .Case<arith::SelectOp>([](auto) { return OpLinks{Form::Each, {Link::None, Link::Addend, Link::Addend}}; })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp,
            arith::MaxUIOp, arith::MinUIOp, arith::AddFOp, arith::AddIOp>([&](auto) { return all(Link::Addend); })
      .Case<DynamicUpdateSliceOp, ScatterOp>([&](auto) { return first(Link::Addend); })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return OpLinks{Form::Each, {Link::Addend, Link::Scaled}}; })
      .Case<arith::NegFOp, spmd::AllReduceOp>([&](auto) { return all(Link::Scaled); })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return OpLinks{Form::Product}; })
      .Case<arith::DivFOp, DivSIOp, DivUIOp>([](auto) { return OpLinks{Form::Quotient}; })
      .Default([&](Operation*) { return all(op->hasTrait<OpTrait::Elementwise>() ? Link::Elementwise : Link::None); });
}
