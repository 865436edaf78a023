// Groups by union-find, costs per op as materialisation will choose them, and sweeps over the groups that touch an op
// whose tensors disagree.
#include "passes/sharding/resolve_conflicts.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "passes/sharding/annotations.h"
#include "passes/sharding/constants.h"
#include "passes/sharding/op_problem.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Sweeps over all groups; each stops where nothing gets cheaper, which few programs need more than three for.
constexpr unsigned kMaxSweeps = 8;

/// What a gather or exchange costs beyond its bytes: it stands alone, while sums at the end of a step travel together.
constexpr double kBytesPerExchange = 1024;

struct Group {
  SmallVector<Value, 4> values;
  SmallVector<unsigned, 8> ops;                         // that touch a value of the group and one outside of it
  double numElements = 0;                               // that ops within the group compute
  SmallVector<std::pair<Value, unsigned>, 1> returned;  // with the entry of the function result
};

/// What an op costs and what it asks for.
struct OpCost {
  double cost = 0;
  bool isInConflict = false;
};

class ConflictResolution {
 public:
  ConflictResolution(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map)
      : function(function), ops(ops), map(map) {}

  unsigned run();

 private:
  void findFixed();
  void formGroups();
  void separateInnerOps(Group& group) const;
  void findSums();
  OpProblem describe(unsigned op) const;
  OpCost measure(unsigned op) const;
  double measureRest(const Group& group) const;
  SmallVector<TensorAxes, 0> getProposals(const Group& group) const;
  void set(const Group& group, const TensorAxes& axes);
  bool improve(const Group& group);

  func::FuncOp function;
  ArrayRef<RuledOp> ops;
  ShardingMap& map;
  DenseSet<Value> fixed;
  SmallVector<Group, 0> groups;
  SmallVector<OpCost, 0> costs;    // by op
  DenseMap<Value, double> shares;  // of the cost of one reduction, where several results are added before it
};
}  // namespace

static bool isShardable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && !isMadeFreely(value);
}

/// Loops, branches and yields: what they join has one sharding already.
static bool joinsSlots(Operation* op) { return isControlFlow(op) || isa<YieldOp>(op); }

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

/// The sums that `value` is the result of: its summands, through additions that nothing else reads.
static void collectSummands(Value value, SmallVectorImpl<Value>& summands) {
  Operation* op = value.getDefiningOp();
  if (isa_and_present<TransposeOp, ReshapeOp>(op) && op->getOperand(0).hasOneUse())
    return collectSummands(op->getOperand(0), summands);
  if (!isa_and_present<arith::AddFOp, arith::AddIOp>(op)) {
    summands.push_back(value);
    return;
  }
  for (Value operand : op->getOperands()) {
    if (operand.hasOneUse())
      collectSummands(operand, summands);
    else
      summands.push_back(operand);
  }
}

static bool isAddition(Operation* op) { return isa<arith::AddFOp, arith::AddIOp>(op); }

/// Partial results that are only added to each other are reduced once, after the additions: each bears its share.
void ConflictResolution::findSums() {
  DenseSet<Value> reduced;
  for (const RuledOp& ruled : ops)
    if (llvm::any_of(ruled.rule.factors, [](const Factor& factor) { return factor.kind == FactorKind::Reduction; }))
      for (Value result : ruled.op->getResults())
        if (result.hasOneUse()) reduced.insert(result);
  for (const RuledOp& ruled : ops) {
    if (!isAddition(ruled.op)) continue;
    Value sum = ruled.op->getResult(0);
    if (sum.hasOneUse() && isAddition(*sum.user_begin())) continue;
    SmallVector<Value> summands;
    collectSummands(sum, summands);
    llvm::erase_if(summands, [&](Value value) { return !reduced.contains(value); });
    for (Value summand : summands) shares[summand] = 1.0 / static_cast<double>(summands.size());
  }
}

OpProblem ConflictResolution::describe(unsigned op) const {
  return OpProblem(ops[op], [&](Value value, bool) { return map[value].axes; });
}

static bool hasDimsOf(const AssignedTensor& tensor, const TensorAxes& assigned) {
  return tensor.isFree || llvm::all_of(llvm::zip(tensor.axes->dims, assigned.dims),
                                       [](auto pair) { return std::get<0>(pair).axes == std::get<1>(pair).axes; });
}

OpCost ConflictResolution::measure(unsigned op) const {
  if (joinsSlots(ops[op].op)) return {};
  OpProblem described = describe(op);
  AssignmentProblem problem = described.view();
  Assignment assignment = chooseAssignment(problem);
  OpCost result{getCost(problem, assignment), false};
  if (auto share = shares.find(ops[op].op->getResult(0)); share != shares.end()) {
    const AssignedTensor& sum = problem.tensors.back();
    TensorAxes assigned = assignedAxes(problem, sum, assignment);
    if (!assigned.unreduced.empty()) result.cost -= (1 - share->second) * reshardBytes(assigned, *sum.axes, sum.bytes);
  }
  for (const AssignedTensor& tensor : problem.tensors) {
    TensorAxes assigned = assignedAxes(problem, tensor, assignment);
    bool isReduced = !assigned.unreduced.empty(), isExchanged = !isReduced && !hasDimsOf(tensor, assigned);
    result.isInConflict |= isReduced || isExchanged;
    if (isExchanged) result.cost += kBytesPerExchange;
  }
  return result;
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

/// What the ops in conflict would have the group be: the form that is cheapest for one of them, or that of one of its
/// other tensors.
SmallVector<TensorAxes, 0> ConflictResolution::getProposals(const Group& group) const {
  SmallVector<TensorAxes, 0> proposals;
  DenseSet<Value> members(group.values.begin(), group.values.end());
  const TensorAxes& current = map[group.values.front()].axes;
  auto propose = [&](const AssignmentProblem& problem, unsigned tensor, const Assignment& assignment) {
    TensorAxes axes = assignedAxes(problem, problem.tensors[tensor], assignment);
    axes.unreduced.clear();
    for (DimAxes& dim : axes.dims) dim.isOpen = true;
    auto isSame = [&](const TensorAxes& other) { return other.dims == axes.dims; };
    auto holds = [](const DimAxes& a, const DimAxes& b) { return a.axes == b.axes; };
    if (llvm::equal(current.dims, axes.dims, holds) || llvm::any_of(proposals, isSame)) return;
    proposals.push_back(std::move(axes));
  };
  for (unsigned op : group.ops) {
    if (!costs[op].isInConflict) continue;
    OpProblem described = describe(op);
    AssignmentProblem problem = described.view();
    for (auto [tensor, value] : llvm::enumerate(described.getValues())) {
      if (!members.contains(value)) continue;
      propose(problem, tensor, chooseAssignment(problem));
      for (unsigned other = 0; other < problem.tensors.size(); ++other) {
        if (members.contains(described.getValues()[other])) continue;
        propose(problem, tensor, followTensor(problem, other, /*alone=*/false));
        propose(problem, tensor, followTensor(problem, other, /*alone=*/true));
      }
    }
  }
  return proposals;
}

void ConflictResolution::set(const Group& group, const TensorAxes& axes) {
  for (Value value : group.values) map[value].axes.dims = axes.dims;
}

bool ConflictResolution::improve(const Group& group) {
  auto isInConflict = [&](unsigned op) { return costs[op].isInConflict; };
  if (llvm::none_of(group.ops, isInConflict) && group.returned.empty()) return false;
  TensorAxes best = map[group.values.front()].axes;
  double bestCost = measureRest(group);
  for (unsigned op : group.ops) bestCost += costs[op].cost;
  bool isBetter = false;
  for (const TensorAxes& proposal : getProposals(group)) {
    set(group, proposal);
    double cost = measureRest(group);
    for (unsigned op : group.ops) cost += measure(op).cost;
    // Not by a rounding error: sweeps would not end.
    if (cost >= bestCost * (1 - 1e-9)) continue;
    bestCost = cost;
    best = proposal;
    isBetter = true;
  }
  set(group, best);
  if (isBetter)
    for (unsigned op : group.ops) costs[op] = measure(op);
  return isBetter;
}

unsigned ConflictResolution::run() {
  auto isSharded = [](const ShardingMap::Entry& entry) { return entry.axes.isSharded(); };
  if (llvm::none_of(map.entries, isSharded)) return 0;
  findFixed();
  formGroups();
  findSums();
  for (unsigned op = 0; op < ops.size(); ++op) costs.push_back(measure(op));
  DenseSet<unsigned> changed;
  for (unsigned sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool isBetter = false;
    for (auto [index, group] : llvm::enumerate(groups)) {
      if (!improve(group)) continue;
      isBetter = true;
      changed.insert(index);
    }
    if (!isBetter) break;
  }
  return changed.size();
}

unsigned mlir::sgd::resolveConflicts(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map) {
  return ConflictResolution(function, ops, map).run();
}
