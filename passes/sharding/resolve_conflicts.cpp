// Groups by union-find, costs per op as materialisation will choose them, and sweeps over the groups that touch an op
// whose tensors disagree.
#include "passes/sharding/resolve_conflicts.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "passes/sharding/annotations.h"
#include "passes/sharding/constants.h"
#include "passes/sharding/conflict_costs.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Sweeps over all groups; each stops where nothing gets cheaper, which few programs need more than three for.
constexpr unsigned kMaxSweeps = 8;

/// Relative differences of costs that do not count.
constexpr double kRounding = 1e-9;

/// Groups that may follow one that takes another form, and how often in all neighbours are asked whether they would:
/// bounds on compile time.
constexpr unsigned kMaxFollowers = 32;
constexpr unsigned kMaxTrials = 2000;

struct Group {
  SmallVector<Value, 4> values;
  SmallVector<unsigned, 8> ops;                         // that touch a value of the group and one outside of it
  double numElements = 0;                               // that ops within the group compute
  SmallVector<std::pair<Value, unsigned>, 1> returned;  // with the entry of the function result
};

/// A group as it was before a change, and what the ops that touch it cost.
struct Change {
  unsigned group;
  TensorAxes axes;
  SmallVector<OpCost, 8> costs;
};

class ConflictResolution {
 public:
  ConflictResolution(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map)
      : function(function), ops(ops), map(map), measured(ops, map) {}

  unsigned run();

 private:
  void findFixed();
  void formGroups();
  void separateInnerOps(Group& group) const;
  double measureRest(const Group& group) const;
  SmallVector<TensorAxes, 0> getProposals(const Group& group);
  void set(const Group& group, const TensorAxes& axes);
  double getCost(const Group& group) const;
  double change(unsigned group, const TensorAxes& axes, SmallVectorImpl<Change>& changes);
  void undo(SmallVectorImpl<Change>& changes);
  bool isSettled(const Group& group) const;
  bool isExchanged(const Group& group) const;
  double improve(unsigned group, bool mayBeEqual, SmallVectorImpl<Change>& changes);
  bool improveWithNeighbours(unsigned start);
  bool sweep(llvm::function_ref<bool(unsigned)> improveGroup);

  func::FuncOp function;
  ArrayRef<RuledOp> ops;
  ShardingMap& map;
  ConflictCosts measured;
  DenseSet<Value> fixed;
  SmallVector<Group, 0> groups;
  SmallVector<OpCost, 0> costs;  // by op
  SmallVector<SmallVector<unsigned, 4>, 0> groupsOfOp;
  DenseSet<unsigned> changed;    // groups
  unsigned trials = kMaxTrials;  // that are left
};
}  // namespace

static bool isShardable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && !isMadeFreely(value);
}

/// Arguments, constraints, slots of loops and branches, and the values behind wishes for partial results keep what they
/// have.
void ConflictResolution::findFixed() {
  for (Value argument : function.getArguments()) fixed.insert(argument);
  for (const RuledOp& ruled : ops) {
    if (isa<ShardingConstraintOp>(ruled.op)) fixed.insert(ruled.op->getResult(0));
    for (const Slot& slot : getSlots(ruled.op))
      for (Value value : llvm::concat<const Value>(slot.sources, slot.targets)) fixed.insert(value);
    if (isa<OptimizationBarrierOp>(ruled.op))
      for (auto [operand, result] : llvm::zip(ruled.op->getOperands(), ruled.op->getResults()))
        if (fixed.contains(operand)) fixed.insert(result);
    for (Value result : ruled.op->getResults())
      if (isShardable(result) && !map[result].axes.unreduced.empty()) fixed.insert(result);
  }
}

void ConflictResolution::formGroups() {
  llvm::EquivalenceClasses<void*> classes;
  auto isMember = [&](Value value) { return isShardable(value) && !fixed.contains(value); };
  auto join = [&](Value a, Value b) {
    if (isMember(a) && isMember(b) && map[a].axes.dims == map[b].axes.dims)
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  };
  for (const RuledOp& ruled : ops) {
    for (Value result : ruled.op->getResults())
      if (isMember(result)) classes.insert(result.getAsOpaquePointer());
    if (isa<OptimizationBarrierOp>(ruled.op)) {
      for (auto [operand, result] : llvm::zip(ruled.op->getOperands(), ruled.op->getResults())) join(operand, result);
    } else if (ruled.rule.isElementwise && !isa<ShardingConstraintOp>(ruled.op)) {
      for (Value result : ruled.op->getResults())
        for (Value operand : ruled.op->getOperands()) join(operand, result);
    }
  }
  DenseMap<void*, unsigned> indices;
  for (auto [index, ruled] : llvm::enumerate(ops)) {
    auto touch = [&](Value value) -> Group* {
      if (!isMember(value)) return nullptr;
      auto [found, isNew] = indices.try_emplace(classes.getLeaderValue(value.getAsOpaquePointer()), groups.size());
      if (isNew) groups.emplace_back();
      Group& group = groups[found->second];
      // A barrier's values travel in pairs that are together already.
      bool counts = !isa<OptimizationBarrierOp>(ops[index].op) && !joinsSlots(ops[index].op);
      if (counts && (group.ops.empty() || group.ops.back() != index)) group.ops.push_back(index);
      return &group;
    };
    for (Value operand : ruled.op->getOperands()) touch(operand);
    for (Value result : ruled.op->getResults())
      if (Group* group = touch(result)) group->values.push_back(result);
  }
  for (Group& group : groups) separateInnerOps(group);
  for (OpOperand& operand : function.getBody().front().getTerminator()->getOpOperands()) {
    std::optional<unsigned> entry = map.functionResults[operand.getOperandNumber()];
    if (entry && isMember(operand.get()))
      groups[indices.lookup(classes.getLeaderValue(operand.get().getAsOpaquePointer()))].returned.push_back(
          {operand.get(), *entry});
  }
}

/// Ops all of whose tensors are in the group agree whatever the group is: of them only the elements count.
void ConflictResolution::separateInnerOps(Group& group) const {
  DenseSet<Value> members(group.values.begin(), group.values.end());
  llvm::erase_if(group.ops, [&](unsigned index) {
    const RuledOp& ruled = ops[index];
    auto isInside = [&](Value value) { return !isShardable(value) || members.contains(value); };
    if (!ruled.rule.isElementwise || !llvm::all_of(ruled.op->getOperands(), isInside) ||
        !llvm::all_of(ruled.op->getResults(), isInside))
      return false;
    group.numElements += cast<RankedTensorType>(ruled.op->getResult(0).getType()).getNumElements();
    return true;
  });
}

/// Function results that are made from the group, and the elements computed in it.
double ConflictResolution::measureRest(const Group& group) const {
  double shards = 1;
  for (const DimAxes& dim : map[group.values.front()].axes.dims) shards *= getGroupSize(dim.axes);
  double cost = getComputeCost(group.numElements / shards);
  for (auto [value, entry] : group.returned) {
    auto type = cast<RankedTensorType>(value.getType());
    cost += reshardBytes(map[value].axes, map.entries[entry].axes,
                         type.getNumElements() * std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1));
  }
  return cost;
}

static bool haveSameDims(const TensorAxes& a, const TensorAxes& b) {
  return llvm::equal(a.dims, b.dims, [](const DimAxes& a, const DimAxes& b) { return a.axes == b.axes; });
}

/// What the ops in conflict would have the group be, and what results of the function that it gives are.
SmallVector<TensorAxes, 0> ConflictResolution::getProposals(const Group& group) {
  SmallVector<TensorAxes, 0> proposals;
  const TensorAxes& current = map[group.values.front()].axes;
  auto propose = [&](const TensorAxes& axes) {
    auto isSame = [&](const TensorAxes& other) { return haveSameDims(other, axes); };
    if (!isSame(current) && llvm::none_of(proposals, isSame)) proposals.push_back(axes);
  };
  DenseSet<Value> members(group.values.begin(), group.values.end());
  for (unsigned op : group.ops) {
    if (!costs[op].isInConflict) continue;
    ArrayRef<Value> values = measured.getValues(op);
    for (const Proposal& proposal : measured.getProposals(op))
      if (members.contains(values[proposal.tensor]) && !(proposal.source && members.contains(values[*proposal.source])))
        propose(proposal.axes);
  }
  for (auto [value, entry] : group.returned) {
    TensorAxes axes = current;
    for (auto [dim, wanted] : llvm::zip(axes.dims, map.entries[entry].axes.dims)) dim.axes = wanted.axes;
    propose(axes);
  }
  return proposals;
}

/// True when something of the group is exchanged between ranks.
bool ConflictResolution::isExchanged(const Group& group) const {
  return llvm::any_of(group.ops, [&](unsigned op) { return costs[op].isExchanged; }) ||
         llvm::any_of(group.returned, [&](auto returned) {
           return !haveSameDims(map[returned.first].axes, map.entries[returned.second].axes);
         });
}

void ConflictResolution::set(const Group& group, const TensorAxes& axes) {
  for (Value value : group.values) map[value].axes.dims = axes.dims;
}

/// What the group and the ops that touch it cost as they are.
double ConflictResolution::getCost(const Group& group) const {
  double cost = measureRest(group);
  for (unsigned op : group.ops) cost += costs[op].cost;
  return cost;
}

/// Gives `group` other axes; returns by how much everything gets dearer. `changes` can take it back.
double ConflictResolution::change(unsigned index, const TensorAxes& axes, SmallVectorImpl<Change>& changes) {
  const Group& group = groups[index];
  double before = getCost(group);
  Change change{index, map[group.values.front()].axes, {}};
  for (unsigned op : group.ops) change.costs.push_back(costs[op]);
  set(group, axes);
  for (unsigned op : group.ops) costs[op] = measured.measure(op);
  changes.push_back(std::move(change));
  return getCost(group) - before;
}

void ConflictResolution::undo(SmallVectorImpl<Change>& changes) {
  for (const Change& change : llvm::reverse(changes)) {
    const Group& group = groups[change.group];
    set(group, change.axes);
    for (auto [op, cost] : llvm::zip(group.ops, change.costs)) costs[op] = cost;
  }
  changes.clear();
}

bool ConflictResolution::isSettled(const Group& group) const {
  auto isInConflict = [&](unsigned op) { return costs[op].isInConflict; };
  return llvm::none_of(group.ops, isInConflict) && group.returned.empty();
}

/// Takes the cheapest proposal if that is better than what is or, where `mayBeEqual`, no worse; returns by how much
/// everything gets dearer.
double ConflictResolution::improve(unsigned index, bool mayBeEqual, SmallVectorImpl<Change>& changes) {
  const Group& group = groups[index];
  if (isSettled(group)) return 0;
  TensorAxes current = map[group.values.front()].axes;
  std::optional<TensorAxes> best;
  double cost = getCost(group);
  // Not better by a rounding error: sweeps would not end.
  double bestCost = cost * (mayBeEqual ? 1 + kRounding : 1 - kRounding);
  for (const TensorAxes& proposal : getProposals(group)) {
    set(group, proposal);
    double proposed = measureRest(group);
    for (unsigned op : group.ops) proposed += measured.measure(op).cost;
    if (proposed >= bestCost) continue;
    bestCost = proposed;
    best = proposal;
  }
  set(group, current);
  return best ? change(index, *best, changes) : 0;
}

/// Gives the group another form although that costs more, and lets its neighbours follow while that gains: what is
/// cheaper only together is not found one by one. Keeps what is better as a whole.
bool ConflictResolution::improveWithNeighbours(unsigned start) {
  for (const TensorAxes& proposal : getProposals(groups[start])) {
    SmallVector<Change, 8> changes;
    double before = getCost(groups[start]);
    double gained = -change(start, proposal, changes);
    DenseSet<unsigned> moved = {start};
    for (unsigned next = 0; next < changes.size(); ++next)
      for (unsigned op : groups[changes[next].group].ops)
        for (unsigned neighbour : groupsOfOp[op]) {
          if (!costs[op].isInConflict || moved.contains(neighbour)) continue;
          if (changes.size() == kMaxFollowers || trials == 0) break;
          --trials;
          unsigned numBefore = changes.size();
          gained -= improve(neighbour, /*mayBeEqual=*/true, changes);
          if (changes.size() > numBefore) moved.insert(neighbour);
        }
    if (gained > kRounding * before) {
      for (const Change& change : changes) changed.insert(change.group);
      return true;
    }
    undo(changes);
  }
  return false;
}

bool ConflictResolution::sweep(llvm::function_ref<bool(unsigned)> improveGroup) {
  bool isBetter = false;
  for (unsigned group = 0; group < groups.size(); ++group) isBetter |= improveGroup(group);
  return isBetter;
}

unsigned ConflictResolution::run() {
  auto isSharded = [](const ShardingMap::Entry& entry) { return entry.axes.isSharded(); };
  if (llvm::none_of(map.entries, isSharded)) return 0;
  findFixed();
  formGroups();
  for (unsigned op = 0; op < ops.size(); ++op) costs.push_back(measured.measure(op));
  groupsOfOp.resize(ops.size());
  for (auto [index, group] : llvm::enumerate(groups))
    for (unsigned op : group.ops) groupsOfOp[op].push_back(index);
  auto alone = [&](unsigned group) {
    SmallVector<Change, 1> changes;
    improve(group, /*mayBeEqual=*/false, changes);
    for (const Change& change : changes) changed.insert(change.group);
    return !changes.empty();
  };
  auto together = [&](unsigned group) { return isExchanged(groups[group]) && improveWithNeighbours(group); };
  for (unsigned round = 0; round < kMaxSweeps; ++round) {
    for (unsigned index = 0; index < kMaxSweeps && sweep(alone); ++index) {
    }
    if (trials == 0 || !sweep(together)) break;
  }
  return changed.size();
}

unsigned mlir::sgd::resolveConflicts(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map) {
  return ConflictResolution(function, ops, map).run();
}
