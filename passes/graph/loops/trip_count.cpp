// The numbers are as wide as no counter is, so that nothing here overflows.
#include "passes/graph/loops/trip_count.h"

#include "dialects/sgd/tensor_type.h"
#include "passes/graph/loops/trip_numbers.h"

using namespace mlir;
using namespace mlir::sgd;

using Predicate = arith::CmpIPredicate;

static bool holds(Predicate predicate, WideInteger a, WideInteger b) {
  switch (predicate) {
    case Predicate::eq:
      return a == b;
    case Predicate::ne:
      return a != b;
    case Predicate::slt:
      return a < b;
    case Predicate::sle:
      return a <= b;
    case Predicate::sgt:
      return a > b;
    default:
      return a >= b;
  }
}

/// How often `step` is added to `value` until the comparison fails; nullopt when it never does on the way there.
static std::optional<WideInteger> countSteps(Predicate predicate, WideInteger value, WideInteger bound,
                                             WideInteger step) {
  if (!holds(predicate, value, bound)) return 0;
  if (step == 0) return std::nullopt;
  if (predicate == Predicate::eq) return 1;
  if (predicate == Predicate::ne)
    return (bound - value) % step == 0 && (bound - value) / step > 0 ? std::optional((bound - value) / step)
                                                                     : std::nullopt;
  bool isUpward = predicate == Predicate::slt || predicate == Predicate::sle;
  if (isUpward != (step > 0)) return std::nullopt;
  bool includesBound = predicate == Predicate::sle || predicate == Predicate::sge;
  WideInteger distance = isUpward ? bound - value : value - bound, size = isUpward ? step : -step;
  return (distance + (includesBound ? 1 : 0) + size - 1) / size;
}

std::optional<int64_t> mlir::sgd::countTrips(const CountedRange& counter, Predicate predicate, WideInteger bound) {
  std::optional<WideInteger> trips = countSteps(predicate, counter.begin, bound, counter.step);
  if (!trips || *trips > std::numeric_limits<int64_t>::max()) return std::nullopt;
  WideInteger last = counter.begin + *trips * counter.step;
  return last < counter.least || last > counter.most ? std::nullopt : std::optional(static_cast<int64_t>(*trips));
}

/// The value whose only element a reshape moves.
static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) value = reshape.getInput();
  return value;
}

/// An integer that is the same in all trips, as the condition sees it.
static std::optional<int64_t> getInvariant(WhileOp loop, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) return getInteger(value);
  return loop.isInvariant(argument.getArgNumber()) ? getInteger(loop.getInits()[argument.getArgNumber()])
                                                   : std::nullopt;
}

static Predicate swapOperands(Predicate predicate) {
  switch (predicate) {
    case Predicate::slt:
      return Predicate::sgt;
    case Predicate::sle:
      return Predicate::sge;
    case Predicate::sgt:
      return Predicate::slt;
    case Predicate::sge:
      return Predicate::sle;
    default:
      return predicate;
  }
}

std::optional<int64_t> mlir::sgd::findTrips(WhileOp loop) {
  if (loop.getCondition().empty()) return std::nullopt;
  Value condition = skipReshapes(loop.getCondition().front().getTerminator()->getOperand(0));
  auto test = condition.getDefiningOp<arith::CmpIOp>();
  if (!test || test.getPredicate() >= Predicate::ult) return std::nullopt;
  Value counter = skipReshapes(test.getLhs()), bound = skipReshapes(test.getRhs());
  Predicate predicate = test.getPredicate();
  auto isCounter = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && getCounter(loop, argument.getArgNumber());
  };
  if (!isCounter(counter)) std::swap(counter, bound), predicate = swapOperands(predicate);
  std::optional<int64_t> last = getInvariant(loop, bound);
  if (!isCounter(counter) || !last) return std::nullopt;
  Counter known = *getCounter(loop, cast<BlockArgument>(counter).getArgNumber());
  unsigned bits = tensorType(counter).getElementTypeBitWidth();
  WideInteger most = (WideInteger(1) << (bits - 1)) - 1;
  return countTrips({known.begin, known.step, -most - 1, most}, predicate, *last);
}

int64_t mlir::sgd::getMostUnrolledTrips(int64_t trips, int64_t ops, int64_t limit) {
  constexpr int64_t kFewTrips = 8, kManyTripsShare = 4;
  return std::max<int64_t>((trips > kFewTrips ? limit / kManyTripsShare : limit) / std::max<int64_t>(ops, 1), 1);
}
