// Folds the ops of a body, trip by trip.
#include "passes/graph/loops/trip_constants.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;

/// The value of a scalar integer constant.
static std::optional<int64_t> getInteger(Attribute constant) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!elements || elements.getNumElements() != 1 || !elements.getElementType().isInteger()) return std::nullopt;
  return elements.getValues<APInt>()[0].getSExtValue();
}

static std::optional<int64_t> getInteger(Value value) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) ? getInteger(elements) : std::nullopt;
}

std::optional<int64_t> mlir::sgd::getCounterStep(WhileOp loop, unsigned iterArg) {
  auto add = loop.getYielded()[iterArg].getDefiningOp<arith::AddIOp>();
  if (!add || !getInteger(loop.getInits()[iterArg])) return std::nullopt;
  Value argument = loop.getBody().getArgument(iterArg);
  if (add.getLhs() == argument) return getInteger(add.getRhs());
  return add.getRhs() == argument ? getInteger(add.getLhs()) : std::nullopt;
}

DenseElementsAttr mlir::sgd::getCounterValue(WhileOp loop, Counter counter, int64_t trip) {
  RankedTensorType type = tensorType(loop.getInits()[counter.iterArg]);
  int64_t value = *getInteger(loop.getInits()[counter.iterArg]) + trip * counter.step;
  return DenseElementsAttr::get(type,
                                APInt(type.getElementTypeBitWidth(), value, /*isSigned=*/true, /*implicitTrunc=*/true));
}

TripConstants::TripConstants(WhileOp loop, ArrayRef<Counter> counters, int64_t trip) {
  for (Counter counter : counters)
    known[loop.getBody().getArgument(counter.iterArg)] = getCounterValue(loop, counter, trip);
  for (auto [argument, init] : llvm::zip(loop.getBody().getArguments(), loop.getInits()))
    if (DenseElementsAttr elements;
        loop.isInvariant(argument.getArgNumber()) && matchPattern(init, m_Constant(&elements)))
      known[argument] = elements;
}

std::optional<int64_t> TripConstants::get(Value value) { return getInteger(fold(value)); }

/// The constant that `value` is, or null.
Attribute TripConstants::fold(Value value) {
  auto [place, isNew] = known.try_emplace(value);
  if (!isNew) return place->second;
  Attribute result = compute(value);
  known[value] = result;
  return result;
}

Attribute TripConstants::compute(Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant))) return constant;
  Operation* op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumOperands() == 0 || tensorType(value).getNumElements() != 1)
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(fold(operand));
    if (!operands.back()) return {};
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1) return {};
  if (auto other = llvm::dyn_cast_if_present<Value>(folded[0])) return other == value ? Attribute() : fold(other);
  return cast<Attribute>(folded[0]);
}

std::optional<SmallVector<int64_t>> mlir::sgd::getTripValues(WhileOp loop, Value value) {
  constexpr uint64_t kMostTrips = 4096;
  if (!loop.getTrips() || *loop.getTrips() > kMostTrips) return std::nullopt;
  SmallVector<Counter> counters;
  for (unsigned iterArg = 0; iterArg < loop.getInits().size(); ++iterArg)
    if (std::optional<int64_t> step = getCounterStep(loop, iterArg)) counters.push_back({iterArg, *step});
  SmallVector<int64_t> values;
  for (uint64_t trip = 0; trip < *loop.getTrips(); ++trip) {
    std::optional<int64_t> known = TripConstants(loop, counters, static_cast<int64_t>(trip)).get(value);
    if (!known) return std::nullopt;
    values.push_back(*known);
  }
  return values;
}
