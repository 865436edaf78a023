// An assignment per op, as materialisation will choose it.
#include "passes/sharding/conflict_costs.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::sgd;

/// What a gather or exchange costs beyond its bytes: it stands alone, while sums at the end of a step travel together.
static constexpr double kBytesPerExchange = 1024;

bool mlir::sgd::joinsSlots(Operation* op) { return isControlFlow(op) || isa<YieldOp>(op); }

ConflictCosts::ConflictCosts(ArrayRef<RuledOp> ops, const ShardingMap& map) : ops(ops), map(map) {
  for (const RuledOp& ruled : ops) {
    values.emplace_back();
    for (ValueRange range : {ValueRange(ruled.op->getOperands()), ValueRange(ruled.op->getResults())})
      for (Value value : range)
        if (isa<RankedTensorType>(value.getType())) values.back().push_back(value);
  }
  findSums();
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
void ConflictCosts::findSums() {
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

OpProblem ConflictCosts::describe(unsigned op) const {
  return OpProblem(ops[op], [&](Value value, bool) { return map[value].axes; });
}

static bool hasDimsOf(const AssignedTensor& tensor, const TensorAxes& assigned) {
  return tensor.isFree || llvm::all_of(llvm::zip(tensor.axes->dims, assigned.dims),
                                       [](auto pair) { return std::get<0>(pair).axes == std::get<1>(pair).axes; });
}

OpCost ConflictCosts::compute(unsigned op) const {
  OpProblem described = describe(op);
  AssignmentProblem problem = described.view();
  Assignment assignment = chooseAssignment(problem);
  OpCost result;
  result.cost = getCost(problem, assignment);
  if (auto share = shares.find(ops[op].op->getResult(0)); share != shares.end()) {
    const AssignedTensor& sum = problem.tensors.back();
    TensorAxes assigned = assignedAxes(problem, sum, assignment);
    if (!assigned.unreduced.empty()) result.cost -= (1 - share->second) * reshardBytes(assigned, *sum.axes, sum.bytes);
  }
  for (const AssignedTensor& tensor : problem.tensors) {
    TensorAxes assigned = assignedAxes(problem, tensor, assignment);
    bool isReduced = !assigned.unreduced.empty(), isExchanged = !isReduced && !hasDimsOf(tensor, assigned);
    result.isInConflict |= isReduced || isExchanged;
    result.isExchanged |= isExchanged;
    if (isExchanged) result.cost += kBytesPerExchange;
  }
  return result;
}

std::vector<Proposal> ConflictCosts::computeProposals(unsigned op) const {
  std::vector<Proposal> proposals;
  OpProblem described = describe(op);
  AssignmentProblem problem = described.view();
  auto propose = [&](unsigned tensor, std::optional<unsigned> source, const Assignment& assignment) {
    TensorAxes axes = assignedAxes(problem, problem.tensors[tensor], assignment);
    axes.unreduced.clear();
    for (DimAxes& dim : axes.dims) dim.isOpen = true;
    proposals.push_back({tensor, source, std::move(axes)});
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

/// What is known of `op` as its tensors are sharded now.
ConflictCosts::Known& ConflictCosts::lookUp(unsigned op) {
  SmallVector<int64_t, 64> key = {op};
  auto append = [&](const AxisParts& parts) {
    key.push_back(parts.size());
    for (const AxisPart& part : parts) key.append({part.axis, part.begin, part.size});
  };
  for (Value value : values[op]) {
    const TensorAxes& axes = map[value].axes;
    for (const DimAxes& dim : axes.dims) append(dim.axes);
    append(axes.unreduced);
  }
  ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t*>(key.data()), key.size() * sizeof(int64_t));
  auto [found, isNew] = known.try_emplace(llvm::xxh3_64bits(bytes));
  if (isNew) found->second.cost = compute(op);
  return found->second;
}

OpCost ConflictCosts::measure(unsigned op) { return joinsSlots(ops[op].op) ? OpCost() : lookUp(op).cost; }

ArrayRef<Proposal> ConflictCosts::getProposals(unsigned op) {
  Known& entry = lookUp(op);
  if (!entry.proposals) entry.proposals = computeProposals(op);
  return *entry.proposals;
}
