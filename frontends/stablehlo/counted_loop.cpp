// The pattern that JAX prints for scan and fori_loop, and what follows from it.
#include "frontends/stablehlo/counted_loop.h"

#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

using Wide = __int128;
using Direction = stablehlo::ComparisonDirection;

bool isUnsignedScalar(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType().isUnsignedInteger();
}

bool holds(Direction direction, Wide a, Wide b) {
  switch (direction) {
    case Direction::EQ:
      return a == b;
    case Direction::NE:
      return a != b;
    case Direction::LT:
      return a < b;
    case Direction::LE:
      return a <= b;
    case Direction::GT:
      return a > b;
    case Direction::GE:
      return a >= b;
  }
  llvm_unreachable("every direction is listed");
}

/// How often `step` is added to `value` until the comparison fails; nullopt when it never does on the way there.
std::optional<Wide> countTrips(Direction direction, Wide value, Wide bound, Wide step) {
  if (!holds(direction, value, bound)) return 0;
  if (step == 0) return std::nullopt;
  if (direction == Direction::EQ) return 1;
  if (direction == Direction::NE)
    return (bound - value) % step == 0 && (bound - value) / step > 0 ? std::optional((bound - value) / step)
                                                                     : std::nullopt;
  bool isUpward = direction == Direction::LT || direction == Direction::LE;
  if (isUpward != step > 0) return std::nullopt;
  bool includesBound = direction == Direction::LE || direction == Direction::GE;
  Wide distance = isUpward ? bound - value : value - bound, size = isUpward ? step : -step;
  return (distance + (includesBound ? 1 : 0) + size - 1) / size;
}

/// Values of a loop's integers that are known at compile time.
class LoopAnalysis {
 public:
  LoopAnalysis(stablehlo::WhileOp loop, llvm::function_ref<std::optional<APInt>(Value)> getOuter)
      : loop(loop), getOuter(getOuter) {}

  std::optional<CountedLoop> run() {
    Block& condition = loop.getCond().front();
    auto test = skipConstraints(condition.getTerminator()->getOperand(0)).getDefiningOp<stablehlo::CompareOp>();
    if (!test) return std::nullopt;
    auto counter = dyn_cast<BlockArgument>(skipConstraints(test.getLhs()));
    if (!counter || counter.getOwner() != &condition) return std::nullopt;
    unsigned index = counter.getArgNumber();
    std::optional<APInt> start = getOuter(loop->getOperand(index)), bound = getInvariant(test.getRhs()),
                         step = getStep(index);
    if (!start || !bound || !step) return std::nullopt;
    bool isUnsigned = isUnsignedScalar(counter);
    auto widen = [&](const APInt& value) -> Wide {
      return isUnsigned ? Wide(value.getZExtValue()) : Wide(value.getSExtValue());
    };
    Wide first = widen(*start), change = step->getSExtValue();
    std::optional<Wide> trips = countTrips(test.getComparisonDirection(), first, widen(*bound), change);
    unsigned bits = start->getBitWidth();
    Wide least = isUnsigned ? Wide(0) : -(Wide(1) << (bits - 1)),
         most = (Wide(1) << (isUnsigned ? bits : bits - 1)) - 1;
    if (!trips || *trips > std::numeric_limits<int64_t>::max()) return std::nullopt;
    Wide last = first + *trips * change;
    if (last < least || last > most) return std::nullopt;
    return CountedLoop{index, *start, *step, static_cast<int64_t>(*trips)};
  }

 private:
  /// A value that is the same in all iterations: a constant, one from outside, or carried unchanged.
  std::optional<APInt> getInvariant(Value value) {
    value = skipConstraints(value);
    if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>())
      return getScalar(dyn_cast<DenseElementsAttr>(constant.getValue()));
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner()->getParentOp() != loop.getOperation()) return getOuter(value);
    Block& body = loop.getBody().front();
    unsigned index = argument.getArgNumber();
    if (skipConstraints(body.getTerminator()->getOperand(index)) != body.getArgument(index)) return std::nullopt;
    return getOuter(loop->getOperand(index));
  }

  /// The constant that each iteration adds to operand `index`.
  std::optional<APInt> getStep(unsigned index) {
    Block& body = loop.getBody().front();
    Operation* next = skipConstraints(body.getTerminator()->getOperand(index)).getDefiningOp();
    if (!isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp>(next)) return std::nullopt;
    Value lhs = skipConstraints(next->getOperand(0)), rhs = skipConstraints(next->getOperand(1));
    if (isa<stablehlo::AddOp>(next) && rhs == body.getArgument(index)) std::swap(lhs, rhs);
    std::optional<APInt> step = getInvariant(rhs);
    if (lhs != body.getArgument(index) || !step) return std::nullopt;
    return isa<stablehlo::SubtractOp>(next) ? -*step : *step;
  }

  stablehlo::WhileOp loop;
  llvm::function_ref<std::optional<APInt>(Value)> getOuter;
};

}  // namespace

std::optional<APInt> mlir::sgd::getScalar(DenseElementsAttr elements) {
  if (!elements || !isa<IntegerType>(elements.getElementType()) || elements.getNumElements() != 1) return std::nullopt;
  return *elements.getValues<APInt>().begin();
}

std::optional<CountedLoop> mlir::sgd::analyzeLoop(stablehlo::WhileOp loop,
                                                  llvm::function_ref<std::optional<APInt>(Value)> getOuter) {
  return LoopAnalysis(loop, getOuter).run();
}
