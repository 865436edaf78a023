// Groups by union-find over the ops.
#include "passes/sharding/propagation/conflict_groups.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "passes/sharding/propagation/constants.h"

using namespace mlir;
using namespace mlir::sgd;

static bool isShardable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && !isMadeFreely(value);
}

namespace {
class Grouping {
 public:
  Grouping(func::FuncOp function, ArrayRef<RuledOp> ops, const ShardingMap& map)
      : function(function), ops(ops), map(map) {}

  ConflictGroups run() {
    findFixed();
    join();
    addOps();
    for (auto [index, group] : llvm::enumerate(result.groups)) separateInnerOps(index, group);
    addReturned();
    result.places.resize(ops.size());
    for (auto [index, group] : llvm::enumerate(result.groups))
      for (auto [position, op] : llvm::enumerate(group.ops))
        result.places[op].push_back({static_cast<unsigned>(index), static_cast<unsigned>(position)});
    return std::move(result);
  }

 private:
  void findFixed();
  void join();
  void addOps();
  void separateInnerOps(unsigned index, ConflictGroup& group) const;
  void addReturned();
  bool isMember(Value value) const { return isShardable(value) && !fixed.contains(value); }

  func::FuncOp function;
  ArrayRef<RuledOp> ops;
  const ShardingMap& map;
  DenseSet<Value> fixed;
  llvm::EquivalenceClasses<void*> classes;
  ConflictGroups result;
};
}  // namespace

/// Arguments, constraints, what flows through loops and branches, and the values behind annotated partial results keep
/// what they have.
void Grouping::findFixed() {
  for (Value argument : function.getArguments()) fixed.insert(argument);
  for (const RuledOp& ruled : ops) {
    if (isa<ShardingConstraintOp>(ruled.op)) fixed.insert(ruled.op->getResult(0));
    for (const DataFlowEdge& edge : getDataFlowEdges(ruled.op)) {
      for (OpOperand* source : edge.sources)
        if (isControlFlow(ruled.op)) fixed.insert(source->get());
      auto isFixed = [&](OpOperand* source) { return fixed.contains(source->get()); };
      if (llvm::any_of(edge.sources, isFixed)) fixed.insert_range(edge.targets);
    }
    for (Value result : ruled.op->getResults())
      if (isShardable(result) && !map[result].axes.unreduced.empty()) fixed.insert(result);
  }
}

void Grouping::join() {
  auto join = [&](Value a, Value b) {
    if (isMember(a) && isMember(b) && map[a].axes.dims == map[b].axes.dims)
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  };
  for (const RuledOp& ruled : ops) {
    for (Value result : ruled.op->getResults())
      if (isMember(result)) classes.insert(result.getAsOpaquePointer());
    for (const DataFlowEdge& edge : getDataFlowEdges(ruled.op))
      for (OpOperand* source : edge.sources)
        for (Value target : edge.targets) join(source->get(), target);
    if (ruled.rule.isElementwise && !isa<ShardingConstraintOp>(ruled.op)) {
      for (Value result : ruled.op->getResults())
        for (Value operand : ruled.op->getOperands()) join(operand, result);
    }
  }
}

void Grouping::addOps() {
  DenseMap<void*, unsigned> indices;
  for (auto [index, ruled] : llvm::enumerate(ops)) {
    // Values along a data-flow edge are in one group already, or fixed.
    bool counts = !isa<DataFlowOpInterface, YieldOp>(ruled.op);
    auto touch = [&, index = index](Value value) -> ConflictGroup* {
      if (!isMember(value)) return nullptr;
      auto [found, isNew] =
          indices.try_emplace(classes.getLeaderValue(value.getAsOpaquePointer()), result.groups.size());
      if (isNew) result.groups.emplace_back();
      result.groupOf.try_emplace(value, found->second);
      ConflictGroup& group = result.groups[found->second];
      if (counts && (group.ops.empty() || group.ops.back() != index)) group.ops.push_back(index);
      return &group;
    };
    for (Value operand : ruled.op->getOperands()) touch(operand);
    for (Value value : ruled.op->getResults())
      if (ConflictGroup* group = touch(value)) group->values.push_back(value);
  }
}

/// Ops all of whose tensors are in the group agree whatever the group is: of them only the elements count.
void Grouping::separateInnerOps(unsigned index, ConflictGroup& group) const {
  auto isInside = [&](Value value) {
    if (!isShardable(value)) return true;
    auto found = result.groupOf.find(value);
    return found != result.groupOf.end() && found->second == index;
  };
  llvm::erase_if(group.ops, [&](unsigned op) {
    const RuledOp& ruled = ops[op];
    if (!ruled.rule.isElementwise || !llvm::all_of(ruled.op->getOperands(), isInside) ||
        !llvm::all_of(ruled.op->getResults(), isInside))
      return false;
    group.numElements += cast<RankedTensorType>(ruled.op->getResult(0).getType()).getNumElements();
    return true;
  });
}

void Grouping::addReturned() {
  for (OpOperand& operand : function.getBody().front().getTerminator()->getOpOperands()) {
    std::optional<unsigned> entry = map.functionResults[operand.getOperandNumber()];
    auto group = result.groupOf.find(operand.get());
    if (entry && group != result.groupOf.end())
      result.groups[group->second].returned.push_back({operand.get(), *entry});
  }
}

ConflictGroups mlir::sgd::formConflictGroups(func::FuncOp function, ArrayRef<RuledOp> ops, const ShardingMap& map) {
  return Grouping(function, ops, map).run();
}
