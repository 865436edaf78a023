// Every trip is looked at: loops that count are short against what they compute.
#include "passes/graph/loops/trip_numbers.h"

#include "dialects/sgd/splat.h"

using namespace mlir;
using namespace mlir::sgd;

std::optional<int64_t> mlir::sgd::getInteger(Value value) {
  SplatElementsAttr splat = getSplatElements(value);
  if (!splat || !isa<IntegerType>(splat.getElementType())) return std::nullopt;
  return splat.getSplatValue<APInt>().getSExtValue();
}

/// An index is an op or two; `ops` are those that may still be looked at.
constexpr int kMostOps = 32;

/// The value of a scalar when the iter_arg `counter` is `at`; nullopt for what this does not know.
static std::optional<int64_t> evaluate(Value value, Value counter, int64_t at, int& ops) {
  if (value == counter) return at;
  if (auto constant = getInteger(value)) return constant;
  Operation* op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, ReshapeOp>(op) || ops-- == 0) return std::nullopt;
  SmallVector<uint64_t, 2> operands;  // wraps as the op does
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> known = evaluate(operand, counter, at, ops);
    if (!known) return std::nullopt;
    operands.push_back(static_cast<uint64_t>(*known));
  }
  if (isa<ReshapeOp>(op)) return static_cast<int64_t>(operands[0]);
  return static_cast<int64_t>(isa<arith::AddIOp>(op) ? operands[0] + operands[1] : operands[0] - operands[1]);
}

std::optional<std::pair<int64_t, int64_t>> mlir::sgd::getProgression(WhileOp loop, unsigned iterArg) {
  std::optional<int64_t> begin = getInteger(loop.getInits()[iterArg]);
  auto next = loop.getYielded()[iterArg].getDefiningOp<arith::AddIOp>();
  Value argument = loop.getBody().getArgument(iterArg);
  if (!begin || !next || (next.getLhs() != argument && next.getRhs() != argument)) return std::nullopt;
  std::optional<int64_t> step = getInteger(next.getLhs() == argument ? next.getRhs() : next.getLhs());
  return step ? std::optional(std::pair(*begin, *step)) : std::nullopt;
}

bool mlir::sgd::isInside(WhileOp loop, Value index, int64_t size) {
  constexpr int64_t kMostTrips = 1 << 16;
  if (!loop.getTrips() || static_cast<int64_t>(*loop.getTrips()) > kMostTrips) return false;
  for (unsigned iterArg = 0; iterArg < loop.getNumResults(); ++iterArg) {
    auto progression = getProgression(loop, iterArg);
    if (!progression) continue;
    Value counter = loop.getBody().getArgument(iterArg);
    uint64_t number = static_cast<uint64_t>(progression->first);
    bool isKnown = llvm::all_of(llvm::seq<int64_t>(*loop.getTrips()), [&](int64_t) {
      int ops = kMostOps;
      auto at = evaluate(index, counter, static_cast<int64_t>(number), ops);
      number += static_cast<uint64_t>(progression->second);
      return at && *at >= 0 && *at < size;
    });
    if (isKnown) return true;
  }
  return false;
}
