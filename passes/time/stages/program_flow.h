// The data flow of a step: which arguments are parameters, and the values computed from them. The IR is
// only read.
//
//   %x  fed                          shared: every stage that reads it has it
//   %w  parameter, carried           is on one stage
//   %m  moment of %w, carried        state: goes with what it is updated with
//   %n  number of steps, carried     shared: its next value needs nothing that is on one stage
#ifndef SGD_PASSES_TIME_STAGES_PROGRAM_FLOW_H
#define SGD_PASSES_TIME_STAGES_PROGRAM_FLOW_H

#include "passes/time/sequential/loop_schedule.h"

namespace mlir::sgd {

class ProgramFlow {
 public:
  /// `given` are the arguments that another program of the same state has on one stage.
  ProgramFlow(func::FuncOp function, const LoopSchedule& loops, MeshAxisAttr axis,
              const DenseMap<Value, unsigned>& given);

  func::FuncOp getFunction() const { return function; }
  /// In the order of the program.
  auto getOps() const { return getFunction().front().without_terminator(); }
  const LoopSchedule& getLoops() const { return loops; }

  /// Arguments that loops are computed from, which are on one stage each, in the order of their first use: that of the
  /// forward pass.
  ArrayRef<BlockArgument> getParameters() const { return parameters; }
  bool isParameter(Value value) const { return parameterSet.contains(value); }
  /// Any stage that needs `value` computes it, or has it as an argument: no parameter or state is needed for it.
  bool isShared(Value value) const { return shared.contains(value); }
  bool isShared(Operation* op) const { return op->getNumResults() > 0 && isShared(op->getResult(0)); }
  /// Whether an argument is small state whose next value is shared.
  bool isSharedState(BlockArgument argument) const { return isShared(argument) && getNext(argument); }
  /// The one parameter from which `value` is computed outside of loops, or null.
  BlockArgument getOwner(Value value) const { return owners.lookup(value); }
  /// The parameters from which alone `value` is computed outside of loops: its owner, or several that are joined, as
  /// the weights of a cell's gates are. Empty for all other values.
  ArrayRef<BlockArgument> getSources(Value value) const;
  /// Whether `op` is in a loop or leads to one. Without loops every op is.
  bool isInGraph(Operation* op) const { return graph.contains(op); }

  /// The result that `argument` is on the next step, or null.
  OpOperand* getNext(BlockArgument argument) const { return next.lookup(argument); }
  /// The argument of the next step that `result`, an operand of the return, is, or null.
  BlockArgument getCarried(OpOperand& result) const;

  /// Bytes of `value` in a step: of all coordinates where they differ.
  int64_t getBytes(Value value) const;

 private:
  void findGraph();
  void findShared(MeshAxisAttr axis, const DenseMap<Value, unsigned>& given);
  void propagateShared();
  void findParameters();
  bool findSources(Operation* op, const llvm::DenseSet<Value>& fed);
  llvm::DenseSet<Value> findFed() const;
  void removeState(llvm::SetVector<BlockArgument>& used) const;

  func::FuncOp function;
  const LoopSchedule& loops;
  int64_t numCoordinates;
  llvm::DenseSet<Operation*> graph;
  llvm::DenseSet<Value> shared, parameterSet;
  DenseMap<Value, OpOperand*> next;
  DenseMap<Value, BlockArgument> owners;
  DenseMap<Value, SmallVector<BlockArgument, 1>> sources;
  SmallVector<BlockArgument> parameters;
};

}  // namespace mlir::sgd

#endif
