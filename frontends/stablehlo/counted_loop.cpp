// The pattern that JAX prints for scan and fori_loop, and what follows from it.
#include "frontends/stablehlo/counted_loop.h"

#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "passes/graph/loops/trip_count.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

bool isUnsignedScalar(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType().isUnsignedInteger();
}

/// Of numbers that are wide enough for those without a sign.
arith::CmpIPredicate getPredicate(stablehlo::ComparisonDirection direction) {
  switch (direction) {
    case stablehlo::ComparisonDirection::EQ:
      return arith::CmpIPredicate::eq;
    case stablehlo::ComparisonDirection::NE:
      return arith::CmpIPredicate::ne;
    case stablehlo::ComparisonDirection::LT:
      return arith::CmpIPredicate::slt;
    case stablehlo::ComparisonDirection::LE:
      return arith::CmpIPredicate::sle;
    case stablehlo::ComparisonDirection::GT:
      return arith::CmpIPredicate::sgt;
    case stablehlo::ComparisonDirection::GE:
      return arith::CmpIPredicate::sge;
  }
  llvm_unreachable("every direction is listed");
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
    auto widen = [&](const APInt& value) -> WideInteger {
      return isUnsigned ? WideInteger(value.getZExtValue()) : WideInteger(value.getSExtValue());
    };
    unsigned bits = start->getBitWidth();
    WideInteger one = 1, least = isUnsigned ? WideInteger(0) : -(one << (bits - 1)),
                most = (one << (isUnsigned ? bits : bits - 1)) - 1;
    std::optional<int64_t> trips = countTrips({widen(*start), step->getSExtValue(), least, most},
                                              getPredicate(test.getComparisonDirection()), widen(*bound));
    if (!trips) return std::nullopt;
    return CountedLoop{index, *start, *step, *trips};
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
