// Each op once, loops and branches until their states settle.
#include "passes/graph/training/rows_analysis.h"

#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

using Kind = RowsState::Kind;

BatchInputs mlir::sgd::findBatchInputs(func::FuncOp function) {
  BatchInputs batch;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
    bool isWords = type.getRank() == 1 && function.getArgAttr(argument, kUnsignedAttr) &&
                   type.getElementType().isInteger(32) && (type.getDimSize(0) == 2 || type.getDimSize(0) == 4);
    if (isState(getRole(function, argument)) || type.getRank() == 0 || isWords) continue;
    if (batch.inputs.empty()) batch.rows = type.getDimSize(0);
    if (type.getDimSize(0) != batch.rows && !batch.other) batch.other = argument;
    batch.inputs.push_back(argument);
  }
  return batch;
}

// Ops
// -------------------------------------------------------------------------------------------------------------------

static RowsState mixed(Operation* op) { return {Kind::Mixed, 0, op}; }

/// The dimension that has `factor` as its outer part.
static std::optional<unsigned> findDim(const TensorMapping& mapping, unsigned factor) {
  for (auto [dim, factors] : llvm::enumerate(mapping))
    if (!factors.empty() && factors.front() == factor) return dim;
  return std::nullopt;
}

/// Whether `factor` is the outer part of one dimension at most, and no inner part.
static bool isMajorIn(const TensorMapping& mapping, unsigned factor) {
  unsigned count = 0;
  for (ArrayRef<unsigned> factors : mapping)
    for (auto [place, own] : llvm::enumerate(factors)) {
      if (own != factor) continue;
      if (place > 0) return false;
      ++count;
    }
  return count <= 1;
}

RowsAnalysis::RowsAnalysis(func::FuncOp function, const BatchInputs& batch, DenseSet<Operation*> statistics)
    : function(function), rows(batch.rows), statistics(std::move(statistics)) {
  for (unsigned input : batch.inputs) states[function.getArgument(input)] = {Kind::Rows};
  visit(function.front());
}

void RowsAnalysis::visit(Block& block) {
  for (Operation& op : block.without_terminator()) {
    if (auto flow = dyn_cast<DataFlowOpInterface>(op))
      visitDataFlow(flow);
    else
      for (Value result : op.getResults()) states[result] = visitOp(&op, result);
  }
  if (block.getParentOp() != function) return;
  for (OpOperand& operand : block.getTerminator()->getOpOperands())
    if (get(operand.get()).kind == Kind::Sum) cutBefore(operand);
}

/// A sum that is no scalar would need a tensor to be kept over batches.
RowsState RowsAnalysis::cutBefore(OpOperand& operand) {
  if (tensorType(operand.get()).getRank() > 0 || isInLoop(operand.getOwner())) return mixed(operand.getOwner());
  cut[operand.get()].push_back({operand.getOwner(), operand.getOperandNumber()});
  return {Kind::Total};
}

RowsState RowsAnalysis::visitOp(Operation* op, Value result) {
  bool hasRows = false, hasSums = false, hasTotals = false;
  for (Value operand : op->getOperands()) {
    RowsState state = get(operand);
    if (state.kind == Kind::Mixed) return state;
    hasRows |= state.kind == Kind::Rows;
    hasSums |= state.kind == Kind::Sum;
    hasTotals |= state.kind == Kind::Total;
  }
  if (statistics.contains(op)) return {};
  if (hasRows) return hasSums || hasTotals ? mixed(op) : visitRows(op, result);
  if (hasSums) return visitSums(op);
  return {hasTotals ? Kind::Total : Kind::Independent};
}

/// Linear in all its sums, or a function of each.
RowsState RowsAnalysis::visitSums(Operation* op) {
  unsigned alone = 0, together = 0, sums = 0;
  bool hasTotals = false;
  for (OpOperand& operand : op->getOpOperands()) {
    Kind kind = get(operand.get()).kind;
    hasTotals |= kind == Kind::Total;
    if (kind != Kind::Sum) continue;
    // Integers that become floats are as exact as sums of floats.
    bool converts = isa<arith::SIToFPOp, arith::UIToFPOp>(op);
    Linearity linearity = converts ? Linearity::Alone : getLinearity(op, operand.getOperandNumber(), ReduceKind::Add);
    ++sums, alone += linearity == Linearity::Alone, together += linearity == Linearity::Together;
  }
  bool isLinear = (sums == 1 && alone == 1) || (together == sums && sums == op->getNumOperands());
  if (isLinear && !hasTotals) return {Kind::Sum};
  RowsState state{Kind::Total};
  for (OpOperand& operand : op->getOpOperands())
    if (get(operand.get()).kind == Kind::Sum)
      if (RowsState own = cutBefore(operand); own.kind == Kind::Mixed) state = own;
  return state;
}

RowsState RowsAnalysis::visitRows(Operation* op, Value result) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled) return mixed(op);
  ShardingRule rule = ruled.getShardingRule();
  std::optional<unsigned> factor;
  for (auto [operand, mapping] : llvm::zip(op->getOperands(), rule.operands)) {
    RowsState state = get(operand);
    if (state.kind != Kind::Rows) continue;
    if (mapping.size() <= state.dim || mapping[state.dim].empty()) return mixed(op);
    unsigned own = mapping[state.dim].front();
    if (factor && *factor != own) return mixed(op);
    factor = own;
  }
  auto isMajor = [&](const TensorMapping& mapping) { return isMajorIn(mapping, *factor); };
  if (rule.factors[*factor].size % rows != 0 || !llvm::all_of(rule.operands, isMajor) ||
      !llvm::all_of(rule.results, isMajor))
    return mixed(op);
  if (rule.factors[*factor].kind != FactorKind::PassThrough) return sumRows(op, rule, *factor);
  std::optional<unsigned> dim = findDim(rule.results[cast<OpResult>(result).getResultNumber()], *factor);
  return dim ? RowsState{Kind::Rows, *dim} : mixed(op);
}

RowsState RowsAnalysis::sumRows(Operation* op, const ShardingRule& rule, unsigned factor) {
  bool isSum = rule.factors[factor].kind == FactorKind::Reduction &&
               rule.factors[factor].reduceKind == ReduceKind::Add && isa<ReduceOp, DotGeneralOp>(op);
  if (!isSum || isInLoop(op)) return mixed(op);
  for (OpOperand& operand : op->getOpOperands())
    if (auto dim = findDim(rule.operands[operand.getOperandNumber()], factor)) summed.insert({&operand, *dim});
  return {Kind::Sum};
}

// Loops and branches
// -------------------------------------------------------------------------------------------------------------------

/// The state of a value that is one of both, or one after the other.
static RowsState join(RowsState a, RowsState b, Operation* op) {
  if (a == b || a.kind == Kind::Mixed) return a;
  if (b.kind == Kind::Mixed) return b;
  if (b.kind == Kind::Independent) std::swap(a, b);
  return a.kind == Kind::Independent && b.kind != Kind::Sum ? b : mixed(op);
}

void RowsAnalysis::visitDataFlow(DataFlowOpInterface op) {
  SmallVector<DataFlowEdge> edges = op.getDataFlowEdges();
  for (bool changes = true; changes;) {
    changes = false;
    for (const DataFlowEdge& edge : edges) changes |= flow(op, edge);
    for (Region& region : op->getRegions())
      if (!region.empty()) visit(region.front());
  }
}

/// Whether a target got another state.
bool RowsAnalysis::flow(DataFlowOpInterface op, const DataFlowEdge& edge) {
  std::optional<RowsState> state;
  for (OpOperand* source : edge.sources) state = state ? join(*state, get(source->get()), op) : get(source->get());
  if (!state) state = RowsState();
  Value decider = op.getDecider();
  if (decider && edge.isChosen() && get(decider).kind != Kind::Independent) state = mixed(op);
  bool changes = false;
  for (Value target : edge.targets) {
    // Inside a manual computation a value is a rank's part.
    bool isAlike = edge.sources.empty() || target.getType() == edge.sources.front()->get().getType();
    RowsState known = get(target), given = isAlike || state->kind == Kind::Independent ? *state : mixed(op);
    RowsState next = states.contains(target) ? join(known, given, op) : given;
    if (states.contains(target) && next == known) continue;
    states[target] = next;
    changes = true;
  }
  return changes;
}
