// Which ops run behind a boundary between two loops over the sequential axis. The IR is only read.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_LOOP_BOUNDARY_H
#define SGD_PASSES_TIME_SEQUENTIAL_LOOP_BOUNDARY_H

#include "passes/time/sequential/loop_schedule.h"
#include "passes/time/sequential/minimum_cut.h"

namespace mlir::sgd {

/// A minimum cut through each boundary. A value that is computed before it and read behind it costs its bytes of all
/// coordinates, or, where its op is cheap, what running the op again costs.
class LoopBoundary {
 public:
  /// `schedule` has each op in the first loop that can have it; `parts` is the number of coordinates.
  LoopBoundary(func::FuncOp function, const LoopSchedule& schedule, int64_t parts);

  /// Ops that run in loop `loop` or later. Called for the last loop first: ops of later loops are among them.
  std::vector<Operation*> getLater(unsigned loop);

 private:
  enum class Side { Before, Behind, Open };

  struct Nodes {
    unsigned runs, has;  // on the sink's side: the op runs behind the boundary; its results are computed there
  };

  void updateLatest();
  Side getSide(Operation* op, unsigned loop) const;
  Nodes addOp(Operation* op, unsigned loop);
  void addEdges(Operation* op, unsigned loop);
  unsigned addValue(Value value, unsigned loop);
  void addReads(Operation* op, unsigned node, unsigned loop);

  func::FuncOp function;
  const LoopSchedule& schedule;
  int64_t parts;
  DenseMap<Operation*, unsigned> latest;
  llvm::DenseSet<Operation*> later;  // of the boundary that was cut last

  // The cut of the current boundary.
  MinimumCut cut;
  DenseMap<Operation*, Nodes> nodes;
  DenseMap<Value, unsigned> values;
  SmallVector<Operation*> work;  // ops with nodes, but without edges
};

}  // namespace mlir::sgd

#endif
