// Every trip is looked at: loops that count are short against what they compute. Sums of counters are added up, all
// else is folded.
#include "passes/graph/loops/trip_numbers.h"

#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;

/// An index is an op or two; sums of more ops are folded.
static constexpr int kMostOps = 32;
static constexpr uint64_t kMostTrips = 1 << 16, kMostFoldedTrips = 4096;

std::optional<int64_t> mlir::sgd::getInteger(Value value) {
  SplatElementsAttr splat = getSplatElements(value);
  if (!splat || !isa<IntegerType>(splat.getElementType())) return std::nullopt;
  return splat.getSplatValue<APInt>().getSExtValue();
}

std::optional<Counter> mlir::sgd::getCounter(WhileOp loop, unsigned iterArg) {
  auto add = loop.getYielded()[iterArg].getDefiningOp<arith::AddIOp>();
  Value argument = loop.getBody().getArgument(iterArg);
  if (!add || (add.getLhs() != argument && add.getRhs() != argument)) return std::nullopt;
  if (tensorType(argument).getNumElements() != 1) return std::nullopt;
  std::optional<int64_t> begin = getInteger(loop.getInits()[iterArg]);
  std::optional<int64_t> step = getInteger(add.getLhs() == argument ? add.getRhs() : add.getLhs());
  return begin && step ? std::optional(Counter{iterArg, *begin, *step}) : std::nullopt;
}

static SmallVector<Counter> getCounters(WhileOp loop) {
  SmallVector<Counter> counters;
  for (unsigned iterArg = 0; iterArg < loop.getInits().size(); ++iterArg)
    if (std::optional<Counter> counter = getCounter(loop, iterArg)) counters.push_back(*counter);
  return counters;
}

/// `number` as an element of `value`.
static APInt wrap(Value value, uint64_t number) {
  return APInt(tensorType(value).getElementTypeBitWidth(), number, /*isSigned=*/true, /*implicitTrunc=*/true);
}

static uint64_t getNumber(const Counter& counter, int64_t trip) {
  return static_cast<uint64_t>(counter.begin) + static_cast<uint64_t>(trip) * static_cast<uint64_t>(counter.step);
}

DenseElementsAttr mlir::sgd::getCounterValue(WhileOp loop, const Counter& counter, int64_t trip) {
  Value init = loop.getInits()[counter.iterArg];
  return DenseElementsAttr::get(tensorType(init), wrap(init, getNumber(counter, trip)));
}

namespace {

/// The numbers of one trip.
class TripNumbers {
 public:
  TripNumbers(WhileOp loop, ArrayRef<Counter> counters, int64_t trip) : loop(loop), counters(counters), trip(trip) {}

  /// `value` as a sum of counters and constants.
  std::optional<int64_t> add(Value value) {
    int ops = kMostOps;
    return add(value, ops);
  }

  /// `value` by folding whatever its ops are.
  std::optional<int64_t> fold(Value value) {
    if (known.empty()) addConstants();
    auto elements = dyn_cast_or_null<DenseElementsAttr>(getConstant(value));
    if (!elements || elements.getNumElements() != 1 || !elements.getElementType().isInteger()) return std::nullopt;
    return elements.getValues<APInt>()[0].getSExtValue();
  }

 private:
  std::optional<int64_t> add(Value value, int& ops) {
    if (value.getParentBlock() == &loop.getBody().front() && isa<BlockArgument>(value)) {
      auto* counter = llvm::find_if(
          counters, [&](const Counter& c) { return c.iterArg == cast<BlockArgument>(value).getArgNumber(); });
      if (counter == counters.end()) return std::nullopt;
      return wrap(value, getNumber(*counter, trip)).getSExtValue();
    }
    if (auto constant = getInteger(value)) return constant;
    Operation* op = value.getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, ReshapeOp>(op) || ops-- == 0) return std::nullopt;
    SmallVector<uint64_t, 2> operands;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> number = add(operand, ops);
      if (!number) return std::nullopt;
      operands.push_back(static_cast<uint64_t>(*number));
    }
    if (isa<ReshapeOp>(op)) return static_cast<int64_t>(operands[0]);
    uint64_t sum = isa<arith::AddIOp>(op) ? operands[0] + operands[1] : operands[0] - operands[1];
    return wrap(value, sum).getSExtValue();
  }

  /// Counters, and what no trip changes.
  void addConstants() {
    for (const Counter& counter : counters)
      known[loop.getBody().getArgument(counter.iterArg)] = getCounterValue(loop, counter, trip);
    for (auto [argument, init] : llvm::zip(loop.getBody().getArguments(), loop.getInits()))
      if (DenseElementsAttr elements;
          loop.isInvariant(argument.getArgNumber()) && matchPattern(init, m_Constant(&elements)))
        known[argument] = elements;
  }

  /// The constant that `value` is, or null.
  Attribute getConstant(Value value) {
    auto [place, isNew] = known.try_emplace(value);
    if (!isNew) return place->second;
    Attribute result = compute(value);
    known[value] = result;
    return result;
  }

  Attribute compute(Value value) {
    DenseElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant))) return constant;
    Operation* op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumOperands() == 0 || tensorType(value).getNumElements() != 1)
      return {};
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(getConstant(operand));
      if (!operands.back()) return {};
    }
    SmallVector<OpFoldResult> folded;
    if (failed(op->fold(operands, folded)) || folded.size() != 1) return {};
    if (auto other = llvm::dyn_cast_if_present<Value>(folded[0]))
      return other == value ? Attribute() : getConstant(other);
    return cast<Attribute>(folded[0]);
  }

  WhileOp loop;
  ArrayRef<Counter> counters;
  int64_t trip;
  DenseMap<Value, Attribute> known;  // null: not constant
};

}  // namespace

std::optional<SmallVector<int64_t>> mlir::sgd::getTripValues(WhileOp loop, Value value) {
  if (!loop.getTrips() || *loop.getTrips() > kMostTrips) return std::nullopt;
  SmallVector<Counter> counters = getCounters(loop);
  SmallVector<int64_t> values;
  for (uint64_t trip = 0; trip < *loop.getTrips(); ++trip) {
    TripNumbers numbers(loop, counters, static_cast<int64_t>(trip));
    std::optional<int64_t> number = numbers.add(value);
    if (!number && *loop.getTrips() <= kMostFoldedTrips) number = numbers.fold(value);
    if (!number) return std::nullopt;
    values.push_back(*number);
  }
  return values;
}

bool mlir::sgd::isInside(WhileOp loop, Value index, int64_t size) {
  std::optional<SmallVector<int64_t>> values = getTripValues(loop, index);
  return values && llvm::all_of(*values, [&](int64_t value) { return value >= 0 && value < size; });
}
