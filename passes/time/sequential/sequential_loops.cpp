// Loops and branches of the program in SequentialSharding: what they carry settles, and what they need of all
// coordinates is computed from inputs, or makes them whole.
#include "passes/time/sequential/sequential_sharding.h"

#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/sharding/propagation/partial_values.h"

using namespace mlir;
using namespace mlir::sgd;

/// Operands of ops in `op` that need all coordinates of a value that is there for one, which no loop over them can give
/// them.
SmallVector<OpOperand*> SequentialSharding::findJoins(Operation* op) const {
  SmallVector<OpOperand*> found;
  op->walk([&](Operation* inner) {
    if (inner == op) return;
    for (OpOperand& operand : inner->getOpOperands()) {
      SequentialState state = get(operand.get());
      auto constant = operand.get().getDefiningOp<arith::ConstantOp>();
      if (!state.isWhole() && !constant && state != getNeeded(operand)) found.push_back(&operand);
    }
  });
  return found;
}

/// Whether arguments among `values` are sharded over ranks, which then have other rows of them than of parts, and take
/// more than a sixteenth of the bytes of arguments that are not cut, such as parameters.
bool SequentialSharding::exchangesMuch(const llvm::DenseSet<Value>& values) const {
  constexpr int64_t kShare = 16;
  int64_t exchanged = 0, kept = 0;
  for (BlockArgument argument : func::FuncOp(function).getArguments()) {
    auto dim = dims.find(argument);
    int64_t bytes = getByteSize(argument.getType());
    if (dim == dims.end())
      kept += bytes;
    else if (values.contains(argument) &&
             !axis.getRankAxes(getSharding(argument.getType())).dims[dim->second].axes.empty())
      exchanged += bytes;
  }
  return exchanged * kShare > kept;
}

/// Decides to compute `value` for all coordinates if that costs little: from blocks of rows, which all coordinates
/// have, by sums and elementwise ops. So is the number of tokens of a block.
bool SequentialSharding::keepWhole(Value value) {
  auto isCheap = [&](Operation* op) {
    return isa<DataFlowOpInterface, ReduceOp>(op) || isElementwise(op) || op->hasTrait<MovesElements>() ||
           !getBlockOperands(op).empty() || op->getNumOperands() == 0;
  };
  // Values that a loop changes cost nothing more. The first value that costs more ends the search.
  bool isCostly = false;
  auto isLeaf = [&](Value one) {
    if (isCostly || isKeptWhole(one) || get(one).isWhole()) return true;
    isCostly = changed.contains(one) || (one.getDefiningOp() && !isCheap(one.getDefiningOp()));
    return isCostly;
  };
  llvm::DenseSet<Value> slice = getSlice(value, isLeaf);
  if (isCostly || slice.empty() || exchangesMuch(slice)) return false;
  keptWhole.insert(slice.begin(), slice.end());
  return true;
}

void SequentialSharding::makeWhole(Operation* op) {
  auto forget = [&](Value value) {
    dims.erase(value);
    partials.erase(value);
  };
  op->walk([&](Operation* inner) {
    for (Value result : inner->getResults()) forget(result);
    for (Region& region : inner->getRegions())
      for (BlockArgument argument : region.getArguments()) forget(argument);
  });
}

/// Loops and branches that cannot be computed for one coordinate alone are computed for all at once.
void SequentialSharding::visitDataFlow(DataFlowOpInterface op) {
  settleDataFlow(op);
  SmallVector<OpOperand*> joins = findJoins(op);
  if (joins.empty()) return;
  isStale = llvm::any_of(joins, [&](OpOperand* join) { return keepWhole(join->get()); });
  if (isStale) return;
  Operation* cause = joins.front()->getOwner();
  makeWhole(op);
  auto isInside = [&](const WholeOp& other) { return op->isAncestor(other.op); };
  if (auto inner = llvm::find_if(whole, isInside); inner != whole.end()) cause = inner->cause;
  llvm::erase_if(whole, isInside);
  whole.push_back({op, cause});
  settleDataFlow(op);
}

/// An edge is cut where its owner is. In loops it is partial when an iteration leaves a partial value there, which only
/// linear ops may read meanwhile.
void SequentialSharding::settleDataFlow(DataFlowOpInterface op) {
  if (isa<OptimizationBarrierOp>(*op)) {
    for (auto [operand, result] : llvm::zip(op->getOpOperands(), op->getResults()))
      needed[&operand] = states[result] = get(operand.get());
    return;
  }
  for (OpOperand& operand : op->getOpOperands()) needed[&operand] = SequentialState();
  SmallVector<DataFlowEdge> own = op.getDataFlowEdges();
  bool isSettled = false;
  while (!isSettled) {
    isSettled = true;
    for (const DataFlowEdge& edge : own) {
      SequentialState state = partials.lookup(edge.getOwner());
      if (auto found = dims.find(edge.getOwner()); found != dims.end()) state = SequentialState::cut(found->second);
      for (Value target : edge.targets) states[target] = state;
      for (OpOperand* source : edge.sources) needed[source] = state;
    }
    for (Region& region : op->getRegions())
      if (!region.empty()) visit(region.front());
    for (const DataFlowEdge& edge : own) {
      if (!get(edge.getOwner()).isWhole()) continue;
      for (OpOperand* source : edge.sources) {
        SequentialState state = get(source->get());
        bool isReduced = source->getOwner() == op && !isInLoop(op);
        if (isReduced || !state.isPartial()) continue;
        partials[edge.getOwner()] = state;
        isSettled = false;
      }
    }
  }
}
