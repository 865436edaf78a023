// Small state that depends on parameters after all, as a learned scale does, is found out by its next value.
#include "passes/time/stages/program_flow.h"

#include "dialects/sgd/stage_rows.h"
#include "dialects/sgd/tensor_layout.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/links.h"

using namespace mlir;
using namespace mlir::sgd;

/// State of so many bytes may be computed by several stages: counts, rates, keys of generators.
static constexpr int64_t kMaxSharedBytes = 64;

ProgramFlow::ProgramFlow(func::FuncOp function, const LoopSchedule& loops, MeshAxisAttr axis,
                         const DenseMap<Value, unsigned>& given)
    : function(function), loops(loops), numCoordinates(axis ? axis.getSize() : 1) {
  for (OpOperand& result : function.front().getTerminator()->getOpOperands())
    if (BlockArgument argument = getCarried(result)) next[argument] = &result;
  findGraph();
  findShared(axis, given);
  findParameters();
}

BlockArgument ProgramFlow::getCarried(OpOperand& result) const {
  func::FuncOp step = function;
  std::optional<unsigned> argument = getCarriedArgument(step, result.getOperandNumber());
  return argument ? step.getArgument(*argument) : BlockArgument();
}

int64_t ProgramFlow::getBytes(Value value) const {
  return getByteSize(value.getType()) * (loops.varies(value) ? numCoordinates : 1);
}

void ProgramFlow::findGraph() {
  for (Operation& op : llvm::reverse(function.front().without_terminator()))
    if (loops.getNumLoops() == 0 || loops.get(&op).isInLoop ||
        llvm::any_of(op.getUsers(), [&](Operation* user) { return graph.contains(user); }))
      graph.insert(&op);
}

void ProgramFlow::propagateShared() {
  for (Operation& op : function.front().without_terminator()) {
    bool isShared = llvm::all_of(op.getOperands(), [&](Value operand) { return shared.contains(operand); });
    for (Value result : op.getResults())
      if (isShared)
        shared.insert(result);
      else
        shared.erase(result);
  }
}

/// As many arguments as can be: those whose next value is not shared fall out until all others' are.
void ProgramFlow::findShared(MeshAxisAttr axis, const DenseMap<Value, unsigned>& given) {
  const bool isStep = carriesState(function);
  auto isFed = [&](BlockArgument argument) {
    if (isStep) return !next.contains(argument);
    return loops.varies(argument) || llvm::any_of(argument.getUsers(), [&](Operation* user) {
             auto slice = dyn_cast<spmd::ShardSliceOp>(user);
             return axis && slice && namesAxis(slice.getAxes(), axis);
           });
  };
  for (BlockArgument argument : function.getArguments()) {
    // Rows of a tensor are on one stage: together the stages have each once.
    const bool isOne = given.contains(argument) || function.getArgAttr(argument.getArgNumber(), kRowsAttr);
    if (!isOne && (isFed(argument) || getByteSize(argument.getType()) <= kMaxSharedBytes)) shared.insert(argument);
  }
  for (bool changed = true; changed;) {
    changed = false;
    propagateShared();
    for (BlockArgument argument : function.getArguments())
      if (OpOperand* result = getNext(argument); result && isShared(argument) && !isShared(result->get()))
        changed |= shared.erase(argument);
  }
}

ArrayRef<BlockArgument> ProgramFlow::getSources(Value value) const {
  auto found = sources.find(value);
  return found == sources.end() ? ArrayRef<BlockArgument>() : found->second;
}

/// Values that are computed from what is fed.
llvm::DenseSet<Value> ProgramFlow::findFed() const {
  llvm::DenseSet<Value> fed;
  for (BlockArgument argument : getFunction().getArguments())
    if (isShared(argument) && !isSharedState(argument)) fed.insert(argument);
  for (Operation& op : getOps())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return fed.contains(operand); }))
      fed.insert_range(op.getResults());
  return fed;
}

/// Finds the owner or the sources of the results of `op`; false if it has neither.
bool ProgramFlow::findSources(Operation* op, const llvm::DenseSet<Value>& fed) {
  if (loops.get(op).isInLoop) return false;
  llvm::SmallSetVector<BlockArgument, 2> own;
  bool isOwned = true, isJoined = true;
  for (Value operand : op->getOperands()) {
    isJoined &= !fed.contains(operand);
    if (isShared(operand)) continue;
    isOwned &= static_cast<bool>(getOwner(operand));
    isJoined &= !getSources(operand).empty();
    own.insert_range(getSources(operand));
  }
  isOwned &= own.size() == 1;
  if (own.empty() || (!isOwned && !isJoined)) return false;
  for (Value result : op->getResults()) {
    if (isOwned) owners[result] = own.front();
    sources[result].assign(own.begin(), own.end());
  }
  return true;
}

/// A join of parameters counts as a use of each if something else reads it: programs may join those of all layers
/// in front of the first one.
void ProgramFlow::findParameters() {
  for (BlockArgument argument : function.getArguments())
    if (!isShared(argument)) {
      owners[argument] = argument;
      sources[argument] = {argument};
    }
  const llvm::DenseSet<Value> fed = findFed();
  llvm::SetVector<BlockArgument> used;
  for (Operation& op : function.front().without_terminator()) {
    if (findSources(&op, fed) || !isInGraph(&op)) continue;
    for (Value operand : op.getOperands())
      if (!isShared(operand)) used.insert_range(getSources(operand));
  }
  // Those of which nothing but one value outside of loops is computed come last.
  if (loops.getNumLoops() == 0)
    for (BlockArgument argument : function.getArguments())
      if (!isShared(argument)) used.insert(argument);
  if (loops.getNumLoops() == 0 && carriesState(function)) removeState(used);
  parameters.assign(used.begin(), used.end());
  parameterSet.insert_range(parameters);
}

/// Without loops: what no result that is not carried, as the loss is, is computed from is no parameter. Where there is
/// no such result all are.
void ProgramFlow::removeState(llvm::SetVector<BlockArgument>& used) const {
  SmallVector<unsigned> others;
  for (OpOperand& result : getFunction().front().getTerminator()->getOpOperands())
    if (!getCarried(result)) others.push_back(result.getOperandNumber());
  if (others.empty()) return;
  Links links(function);
  used.remove_if([&](BlockArgument argument) {
    return llvm::none_of(others, [&](unsigned result) { return links.depends(result, argument.getArgNumber()); });
  });
}
