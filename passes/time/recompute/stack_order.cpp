// A greedy search that evaluates a stack again only after its own recomputation became cheaper: when another stack was
// dropped whose recomputation shares ops with it. Additions only shrink, so a stack that freed bytes always will.
#include "passes/time/recompute/stack_order.h"

#include <queue>

#include "dialects/sgd/tensor_type.h"
#include "passes/time/recompute/stack_cone.h"

using namespace mlir;
using namespace mlir::sgd;

/// Instructions for each element that take less time than writing and reading the element.
static constexpr double kFreeInstructions = 4;

namespace {

/// The stacks of one pair that are not dropped, and what dropping each would add.
class PairSteps {
 public:
  PairSteps(const LoopPair& pair, unsigned number, const OpTimes& times, bool onlyFree)
      : pair(pair), number(number), onlyFree(onlyFree), growth(pair, times), singles(pair.getStacks().size()) {
    for (unsigned stack = 0; stack < singles.size(); ++stack) evaluate(stack);
  }

  /// The step that drops `stack` alone; null if it frees nothing, is dropped, or cannot be.
  const StackStep* getSingle(unsigned stack) const {
    return !growth.isDropped(stack) && isUseful(singles[stack]) ? &*singles[stack] : nullptr;
  }
  bool hasSingle() const { return numUseful > 0; }

  /// The step that drops all stacks that are left, if several are. The state that an iteration begins with may be
  /// larger than each of them, and smaller than all.
  const StackStep* getRest() {
    if (onlyFree) return nullptr;
    if (!rest) {
      SmallVector<unsigned, 1> left;
      for (unsigned stack = 0; stack < singles.size(); ++stack)
        if (!growth.isDropped(stack)) left.push_back(stack);
      rest.emplace(left.size() > 1 ? getStep(left) : std::nullopt);
    }
    return isUseful(*rest) ? &**rest : nullptr;
  }

  /// Takes `step`; returns the stacks whose steps changed.
  SmallVector<unsigned> take(const StackStep& step) {
    for (unsigned stack : step.stacks) numUseful -= isUseful(singles[stack]) ? 1 : 0;
    StackCone addition = *growth.getAddition(step.stacks);
    growth.add(step.stacks, addition);
    rest.reset();
    SetVector<unsigned> changed;
    for (Operation* op : addition.ops) addDependents(op, changed);
    for (Value value : addition.newStacks) addDependents(value.getAsOpaquePointer(), changed);
    for (unsigned stack : changed) evaluate(stack);
    return changed.takeVector();
  }

  uint64_t getNumVisited() const { return growth.getNumVisited(); }

 private:
  bool isUseful(const std::optional<StackStep>& step) const {
    return step && step->freedBytes > 0 && (step->isFree || !onlyFree);
  }

  void addDependents(const void* key, SetVector<unsigned>& changed) {
    auto known = dependents.find(key);
    if (known == dependents.end()) return;
    for (unsigned stack : known->second)
      if (!growth.isDropped(stack)) changed.insert(stack);
    dependents.erase(known);
  }

  void evaluate(unsigned stack) {
    numUseful -= isUseful(singles[stack]) ? 1 : 0;
    bool isFirst = !singles[stack];
    singles[stack] = getStep({stack}, isFirst);
    numUseful += isUseful(singles[stack]) ? 1 : 0;
  }

  /// The step that drops `stacks`. With `isNoted`, notes on which ops and new stacks the addition depends.
  std::optional<StackStep> getStep(SmallVector<unsigned, 1> stacks, bool isNoted = false) {
    std::optional<StackCone> addition = growth.getAddition(stacks);
    if (!addition) return std::nullopt;
    StackStep step{number, std::move(stacks), -addition->newBytes, addition->seconds, addition->flops};
    double elements = 0;
    for (unsigned stack : step.stacks) {
      step.freedBytes += pair.getStacks()[stack].bytes;
      elements += static_cast<double>(tensorType(pair.getStacks()[stack].slice).getNumElements() * pair.getTrips());
    }
    step.isFree = addition->isArithmetic && addition->newStacks.empty() && step.flops <= kFreeInstructions * elements;
    if (!isNoted) return step;
    for (Operation* op : addition->ops) dependents[op].push_back(step.stacks.front());
    for (Value value : addition->newStacks) dependents[value.getAsOpaquePointer()].push_back(step.stacks.front());
    return step;
  }

  const LoopPair& pair;
  unsigned number;
  bool onlyFree;
  ConeGrowth growth;
  std::vector<std::optional<StackStep>> singles;  // by stack; nullopt if it cannot be dropped
  unsigned numUseful = 0;                         // of those that are not dropped
  std::optional<std::optional<StackStep>> rest;   // of the stacks that are left now
  // By op and loop-carried value of the first loop: stacks whose addition has it.
  DenseMap<const void*, SmallVector<unsigned, 2>> dependents;
};

/// A step that drops one stack. Entries of steps that changed since are obsolete.
struct Entry {
  double worth = 0;
  unsigned pair = 0, stack = 0;

  bool operator<(const Entry& other) const {
    return std::tuple(worth, other.pair, other.stack) < std::tuple(other.worth, pair, stack);
  }
};

class OrderSearch {
 public:
  OrderSearch(ArrayRef<LoopPair> loopPairs, const OpTimes& times, bool onlyFree = false) {
    for (auto [number, pair] : llvm::enumerate(loopPairs)) {
      pairs.push_back(std::make_unique<PairSteps>(pair, number, times, onlyFree));
      for (unsigned stack = 0; stack < pair.getStacks().size(); ++stack) offer(number, stack);
    }
  }

  StackOrder run(uint64_t count) {
    StackOrder order;
    while (order.steps.size() < count) {
      const StackStep* best = findBest();
      if (!best) break;
      order.steps.push_back(*best);
      unsigned pair = best->pair;
      for (unsigned stack : pairs[pair]->take(order.steps.back())) offer(pair, stack);
    }
    for (auto& pair : pairs) order.numVisited += pair->getNumVisited();
    return order;
  }

 private:
  void offer(unsigned pair, unsigned stack) {
    if (const StackStep* step = pairs[pair]->getSingle(stack)) queue.push({step->getWorth(), pair, stack});
  }

  /// The single that is worth most; null if there is none.
  const StackStep* findSingle() {
    for (; !queue.empty(); queue.pop()) {
      const Entry& top = queue.top();
      const StackStep* step = pairs[top.pair]->getSingle(top.stack);
      if (step && step->getWorth() == top.worth) return step;
    }
    return nullptr;
  }

  const StackStep* findBest() {
    const StackStep* best = findSingle();
    // All stacks that are left of a pair go at once only if no stack goes alone, there and in earlier pairs.
    for (auto& pair : pairs) {
      if (pair->hasSingle()) break;
      if (const StackStep* rest = pair->getRest()) return best && best->getWorth() > rest->getWorth() ? best : rest;
    }
    return best;
  }

  std::vector<std::unique_ptr<PairSteps>> pairs;
  std::priority_queue<Entry> queue;
};

}  // namespace

StackOrder mlir::sgd::findStackOrder(ArrayRef<LoopPair> pairs, const OpTimes& times, uint64_t count) {
  return count == 0 ? StackOrder() : OrderSearch(pairs, times).run(count);
}

StackOrder mlir::sgd::findFreeStacks(ArrayRef<LoopPair> pairs, const OpTimes& times) {
  return OrderSearch(pairs, times, /*onlyFree=*/true).run(std::numeric_limits<uint64_t>::max());
}
