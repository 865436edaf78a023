// Gradients are found backward from the next state, through ops on elements; then each scalar's sources are compared.
#include "passes/graph/carry/trained_scalar.h"

#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/value_sources.h"

using namespace mlir;
using namespace mlir::sgd;

static bool isFloat(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && isa<FloatType>(tensor.getElementType());
}

static bool isOnElements(Operation* op) {
  return isa<DataFlowOpInterface>(op) || op->hasTrait<OpTrait::Elementwise>() || keepsAllElements(op);
}

/// The same value in each element, as a rate: no gradient, and equal ones may be one op in the whole program.
static bool isOneNumber(Operation* op) {
  auto broadcast = dyn_cast<BroadcastInDimOp>(op);
  return op->hasTrait<OpTrait::ConstantLike>() || (broadcast && tensorType(broadcast.getOperand()).getRank() == 0);
}

/// Whether a step changes the argument that `result` is on the next one, a tensor of floats.
static bool isTrained(func::FuncOp function, OpOperand& result) {
  unsigned number = result.getOperandNumber();
  std::optional<unsigned> argument = getCarriedArgument(function, number);
  return argument && isFloat(result.get()) && tensorType(result.get()).getRank() > 0 &&
         result.get() != function.getArgument(*argument);
}

TrainedScalars::TrainedScalars(func::FuncOp function) : function(function) {
  for (OpOperand& result : function.front().getTerminator()->getOpOperands()) {
    if (!isTrained(function, result)) continue;
    states.push_back({*getCarriedArgument(function, result.getOperandNumber()), {}});
    findGradients(result.get(), states.back());
  }
  readByGradients = findFloatSources(gradients);
}

void TrainedScalars::findGradients(Value updated, State& state) {
  llvm::DenseSet<Value> seen = {updated};
  SmallVector<Value> open = {updated};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation* op = value.getDefiningOp();
    if (op && !isOnElements(op)) {
      if (isOneNumber(op)) continue;
      state.gradients.push_back(gradients.size());
      gradients.push_back(value);
      continue;
    }
    visitSources(value, [&](Value source) {
      if (isFloat(source) && seen.insert(source).second) open.push_back(source);
    });
  }
}

llvm::BitVector TrainedScalars::findFloatSources(ArrayRef<Value> values) {
  llvm::BitVector found;
  SmallVector<Value> open;
  auto push = [&](Value value) {
    unsigned number = getNumber(value);
    if (found.size() <= number) found.resize(2 * number + 1);
    if (!isFloat(value) || found.test(number)) return;
    found.set(number);
    open.push_back(value);
  };
  llvm::for_each(values, push);
  while (!open.empty()) visitSources(open.pop_back_val(), push);
  return found;
}

static bool has(const llvm::BitVector& values, unsigned number) {
  return number < values.size() && values.test(number);
}

ScalarEvidence TrainedScalars::judge(Value scalar) {
  ScalarEvidence found;
  found.values = findFloatSources(scalar);
  found.gradients.resize(gradients.size());
  for (auto [place, gradient] : llvm::enumerate(gradients))
    if (has(found.values, getNumber(gradient))) found.gradients.set(place);
  for (const State& state : states)
    found.numTrained += has(found.values, getNumber(function.getArgument(state.argument))) &&
                        llvm::none_of(state.gradients, [&](unsigned place) { return found.gradients.test(place); });
  for (auto [value, number] : numbers) {
    if (isa<BlockArgument>(value) || !has(found.values, number)) continue;
    ++(has(readByGradients, number) ? found.numShared : found.numOwn);
  }
  return found;
}

SmallVector<unsigned> TrainedScalars::select(ArrayRef<unsigned> results) {
  SmallVector<unsigned> left(results);
  auto keep = [&](llvm::function_ref<bool(const ScalarEvidence&)> isKept) {
    auto isOut = [&](unsigned result) { return !isKept(evidence[result]); };
    if (!llvm::all_of(left, isOut)) llvm::erase_if(left, isOut);
  };
  unsigned mostTrained = 0;
  for (unsigned result : results) {
    evidence[result] = judge(getScalar(result));
    mostTrained = std::max(mostTrained, evidence[result].numTrained);
  }
  keep([&](const ScalarEvidence& one) { return one.numTrained == mostTrained; });
  keep([](const ScalarEvidence& one) { return one.numShared > 0; });
  SmallVector<unsigned> rivals = left;
  keep([&](const ScalarEvidence& one) {
    return llvm::none_of(rivals, [&](unsigned rival) {
      const llvm::BitVector& fewer = evidence[rival].gradients;
      return fewer != one.gradients && !fewer.test(one.gradients);
    });
  });
  return left;
}

Value TrainedScalars::getScalar(unsigned result) const {
  return func::FuncOp(function).front().getTerminator()->getOperand(result);
}

/// Whether `a` is computed from `b` and, elsewhere, from state itself.
bool TrainedScalars::isPenalized(unsigned a, unsigned b) const {
  const llvm::BitVector &more = evidence.at(a).values, &fewer = evidence.at(b).values;
  if (!has(more, numbers.lookup(getScalar(b)))) return false;
  return llvm::any_of(states, [&](const State& state) {
    return llvm::any_of(func::FuncOp(function).getArgument(state.argument).getUsers(), [&](Operation* user) {
      return llvm::any_of(user->getResults(), [&](Value result) {
        auto found = numbers.find(result);
        return found != numbers.end() && has(more, found->second) && !has(fewer, found->second);
      });
    });
  });
}

bool TrainedScalars::isLikelier(unsigned a, unsigned b) const {
  const ScalarEvidence &one = evidence.at(a), &other = evidence.at(b);
  if (one.numShared != other.numShared) return one.numShared > other.numShared;
  if (one.numShared == 0) return false;
  if (isPenalized(a, b)) return true;
  return !isPenalized(b, a) && one.numOwn < other.numOwn;
}
