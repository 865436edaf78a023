// Matches bodies structurally.
#include "frontends/stablehlo/combiner.h"

#include "frontends/stablehlo/input/elementwise_ops.h"

using namespace mlir;
using namespace mlir::sgd;

/// The kind of the scalar op `name` on elements of `type`, or nullopt.
static std::optional<ReduceKind> getKind(StringRef name, Type element) {
  bool isBool = element.isInteger(1), isUnsignedInteger = element.isUnsignedInteger();
  if (name == "stablehlo.add") return isBool ? ReduceKind::Or : ReduceKind::Add;
  if (name == "stablehlo.multiply") return isBool ? ReduceKind::And : ReduceKind::Mul;
  if (name == "stablehlo.maximum")
    return isBool ? ReduceKind::Or : isUnsignedInteger ? ReduceKind::UMax : ReduceKind::Max;
  if (name == "stablehlo.minimum")
    return isBool ? ReduceKind::And : isUnsignedInteger ? ReduceKind::UMin : ReduceKind::Min;
  if (name == "stablehlo.and") return ReduceKind::And;
  if (name == "stablehlo.or") return ReduceKind::Or;
  if (name == "stablehlo.xor") return ReduceKind::Xor;
  return std::nullopt;
}

Value mlir::sgd::skipConstraints(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (op->getName().getStringRef() != "sdy.sharding_constraint") break;
    value = op->getOperand(0);
  }
  return value;
}

std::optional<ReduceKind> mlir::sgd::matchCombiner(Block& body, unsigned index, unsigned count) {
  Operation* op = skipConstraints(body.getTerminator()->getOperand(index)).getDefiningOp();
  if (!op || op->getNumOperands() != 2 || op->getNumResults() != 1 || op->getBlock() != &body) return std::nullopt;
  Value first = skipConstraints(op->getOperand(0)), second = skipConstraints(op->getOperand(1));
  Value oldValue = body.getArgument(index), newValue = body.getArgument(index + count);
  bool combines = (first == oldValue && second == newValue) || (first == newValue && second == oldValue);
  auto type = dyn_cast<RankedTensorType>(oldValue.getType());
  return combines && type ? getKind(op->getName().getStringRef(), type.getElementType()) : std::nullopt;
}

bool mlir::sgd::isNeutral(OpLowering& l, Value init, ReduceKind kind) {
  TypedAttr value = getSplatConstant(init);
  if (!value) return false;
  if (auto number = dyn_cast<FloatAttr>(value); number && kind == ReduceKind::Add) return number.getValue().isZero();
  return value == getNeutralElement(l.builder, kind, value.getType());
}

namespace {

/// The parts of a body that JAX writes for argmax and argmin, all scalars.
class ArgExtremumBody {
 public:
  explicit ArgExtremumBody(Block& body) : body(body) {}

  std::optional<ReduceKind> match() {
    auto value = getReturned<stablehlo::SelectOp>(0);
    auto position = getReturned<stablehlo::SelectOp>(1);
    if (!value || !position || !chooses(value, 0, 2) || !chooses(position, 1, 3)) return std::nullopt;
    std::optional<ReduceKind> kind = matchKeepsOld(value.getPred());
    if (!kind || !matchKeepsOldPosition(position.getPred(), value.getPred())) return std::nullopt;
    return kind;
  }

 private:
  template <typename OpTy>
  OpTy getReturned(unsigned index) {
    return skipConstraints(body.getTerminator()->getOperand(index)).getDefiningOp<OpTy>();
  }
  bool isArgument(Value value, unsigned index) { return skipConstraints(value) == body.getArgument(index); }
  bool chooses(stablehlo::SelectOp select, unsigned ifTrue, unsigned ifFalse) {
    return isArgument(select.getOnTrue(), ifTrue) && isArgument(select.getOnFalse(), ifFalse);
  }
  bool compares(Value value, stablehlo::ComparisonDirection direction, unsigned lhs, unsigned rhs) {
    auto test = skipConstraints(value).getDefiningOp<stablehlo::CompareOp>();
    return test && test.getComparisonDirection() == direction && isArgument(test.getLhs(), lhs) &&
           isArgument(test.getRhs(), rhs);
  }

  /// old > new (or old < new) or old is NaN.
  std::optional<ReduceKind> matchKeepsOld(Value condition) {
    using D = stablehlo::ComparisonDirection;
    auto either = skipConstraints(condition).getDefiningOp<stablehlo::OrOp>();
    if (!either || !compares(either.getRhs(), D::NE, 0, 0)) return std::nullopt;
    bool isUnsignedInteger = cast<RankedTensorType>(body.getArgument(0).getType()).getElementType().isUnsignedInteger();
    if (compares(either.getLhs(), D::GT, 0, 2)) return isUnsignedInteger ? ReduceKind::UMax : ReduceKind::Max;
    if (compares(either.getLhs(), D::LT, 0, 2)) return isUnsignedInteger ? ReduceKind::UMin : ReduceKind::Min;
    return std::nullopt;
  }

  /// The same, or the values are equal and the old position is smaller.
  bool matchKeepsOldPosition(Value condition, Value keepsOld) {
    using D = stablehlo::ComparisonDirection;
    auto either = skipConstraints(condition).getDefiningOp<stablehlo::OrOp>();
    if (!either || skipConstraints(either.getLhs()) != skipConstraints(keepsOld)) return false;
    auto both = skipConstraints(either.getRhs()).getDefiningOp<stablehlo::AndOp>();
    return both && compares(both.getLhs(), D::EQ, 0, 2) && compares(both.getRhs(), D::LT, 1, 3);
  }

  Block& body;
};

}  // namespace

std::optional<ReduceKind> mlir::sgd::matchArgExtremum(Block& body) {
  if (body.getNumArguments() != 4 || body.getTerminator()->getNumOperands() != 2) return std::nullopt;
  return ArgExtremumBody(body).match();
}
