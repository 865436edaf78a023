// An assignment per op, as materialisation will choose it.
#include "passes/sharding/propagation/conflict_costs.h"

#include <cmath>

#include "passes/sharding/propagation/partial_values.h"

using namespace mlir;
using namespace mlir::sgd;

/// Cost of a gather or all-to-all beyond its bytes: it is issued alone, while reductions at the end of a step are
/// combined.
static constexpr double kBytesPerExchange = 1024;

CostUnits mlir::sgd::toCostUnits(double bytes) { return static_cast<CostUnits>(std::nearbyint(bytes * 0x1p20)); }

double mlir::sgd::toBytes(CostUnits units) { return static_cast<double>(units) * 0x1p-20; }

GroupForms::GroupForms(const ConflictGroups& groups, const ShardingMap& map) {
  for (const ConflictGroup& group : groups.groups) forms.push_back({map[group.values.front()].axes.dims});
}

Form GroupForms::getNumber(unsigned group, const Dims& dims) {
  std::vector<Dims>& known = forms[group];
  auto found = llvm::find(known, dims);
  if (found == known.end()) return known.push_back(dims), known.size() - 1;
  return found - known.begin();
}

ConflictCosts::ConflictCosts(ArrayRef<RuledOp> ops, const ShardingMap& map, const ConflictGroups& groups,
                             GroupForms& forms)
    : ops(ops), map(map), groups(groups), forms(forms), known(ops.size()) {
  findAddedPartials();
}

static bool isSum(Operation* op) { return joinsPartials(op, ReduceKind::Add); }

/// The summands of `value`, through additions and subtractions that nothing else reads.
static void collectSummands(Value value, SmallVectorImpl<Value>& summands) {
  Operation* op = value.getDefiningOp();
  if (op && keepsAllElements(op) && op->getOperand(0).hasOneUse()) return collectSummands(op->getOperand(0), summands);
  if (!op || !isSum(op)) {
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

/// Partial results that are only added to each other are reduced once, after the sums: each bears its share.
void ConflictCosts::findAddedPartials() {
  DenseSet<Value> reduced;
  for (const RuledOp& ruled : ops)
    if (llvm::any_of(ruled.rule.factors, [](const Factor& factor) { return factor.kind == FactorKind::Reduction; }))
      for (Value result : ruled.op->getResults())
        if (result.hasOneUse()) reduced.insert(result);
  for (const RuledOp& ruled : ops) {
    if (!isSum(ruled.op)) continue;
    Value sum = ruled.op->getResult(0);
    if (sum.hasOneUse() && isSum(*sum.user_begin())) continue;
    SmallVector<Value> summands;
    collectSummands(sum, summands);
    llvm::erase_if(summands, [&](Value value) { return !reduced.contains(value); });
    for (Value summand : summands) shares[summand] = 1.0 / static_cast<double>(summands.size());
  }
}

/// Which of the op's places counts the group of `value`.
std::optional<unsigned> ConflictCosts::getPlace(unsigned op, Value value) const {
  auto group = groups.groupOf.find(value);
  if (group == groups.groupOf.end()) return std::nullopt;
  for (auto [index, place] : llvm::enumerate(groups.places[op]))
    if (place.group == group->second) return index;
  return std::nullopt;
}

OpProblem ConflictCosts::describe(unsigned op, ArrayRef<Form> formsOfOp) const {
  return OpProblem(ops[op], [&](Value value, bool) {
    TensorAxes axes = map[value].axes;
    if (std::optional<unsigned> place = getPlace(op, value))
      axes.dims = forms.get(groups.places[op][*place].group, formsOfOp[*place]);
    return axes;
  });
}

static bool hasDimsOf(const AssignedTensor& tensor, const TensorAxes& assigned) {
  return tensor.isFree || llvm::all_of(llvm::zip(tensor.axes->dims, assigned.dims),
                                       [](auto pair) { return std::get<0>(pair).axes == std::get<1>(pair).axes; });
}

OpCost ConflictCosts::compute(unsigned op, ArrayRef<Form> formsOfOp) const {
  OpProblem described = describe(op, formsOfOp);
  AssignmentProblem problem = described.view();
  Assignment assignment = chooseAssignment(problem);
  OpCost result;
  double cost = getCost(problem, assignment);
  if (auto share = shares.find(ops[op].op->getResult(0)); share != shares.end()) {
    const AssignedTensor& sum = problem.tensors.back();
    TensorAxes assigned = assignedAxes(problem, sum, assignment);
    if (!assigned.unreduced.empty()) cost -= (1 - share->second) * reshardBytes(assigned, *sum.axes, sum.bytes);
  }
  for (const AssignedTensor& tensor : problem.tensors) {
    TensorAxes assigned = assignedAxes(problem, tensor, assignment);
    bool isReduced = !assigned.unreduced.empty(), isExchanged = !isReduced && !hasDimsOf(tensor, assigned);
    result.isInConflict |= isReduced || isExchanged;
    result.isExchanged |= isExchanged;
    if (isExchanged) cost += kBytesPerExchange;
  }
  result.cost = toCostUnits(cost);
  return result;
}

OpCost& ConflictCosts::lookUp(unsigned op, ArrayRef<Form> formsOfOp) {
  auto found = known[op].find(formsOfOp);
  if (found == known[op].end()) found = known[op].try_emplace(formsOfOp.vec(), compute(op, formsOfOp)).first;
  return found->second;
}

/// For each tensor: the sharding with which the op is cheapest, or that of another tensor of another group.
const std::vector<SmallVector<Form, 4>>& ConflictCosts::getProposals(unsigned op, ArrayRef<Form> formsOfOp,
                                                                     OpCost& cost) {
  if (cost.proposals) return *cost.proposals;
  std::vector<SmallVector<Form, 4>>& proposals = cost.proposals.emplace(groups.places[op].size());
  OpProblem described = describe(op, formsOfOp);
  AssignmentProblem problem = described.view();
  auto propose = [&](unsigned tensor, std::optional<unsigned> source, const Assignment& assignment) {
    std::optional<unsigned> place = getPlace(op, described.getValues()[tensor]);
    if (!place || (source && getPlace(op, described.getValues()[*source]) == place)) return;
    TensorAxes axes = assignedAxes(problem, problem.tensors[tensor], assignment);
    for (DimAxes& dim : axes.dims) dim.isOpen = true;
    Form form = forms.getNumber(groups.places[op][*place].group, axes.dims);
    if (!llvm::is_contained(proposals[*place], form)) proposals[*place].push_back(form);
  };
  Assignment cheapest = chooseAssignment(problem);
  for (unsigned tensor = 0; tensor < problem.tensors.size(); ++tensor) propose(tensor, std::nullopt, cheapest);
  for (unsigned source = 0; source < problem.tensors.size(); ++source) {
    SmallVector<Assignment> candidates = followTensorMoved(problem, source);
    for (bool alone : {false, true}) candidates.push_back(followTensor(problem, source, alone));
    for (const Assignment& candidate : candidates)
      for (unsigned tensor = 0; tensor < problem.tensors.size(); ++tensor)
        if (tensor != source) propose(tensor, source, candidate);
  }
  return proposals;
}
