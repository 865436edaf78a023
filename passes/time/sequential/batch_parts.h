// The arguments, results and coordinates of a function whose batch is computed in parts. Form-loops and form-stages
// share them.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_BATCH_PARTS_H
#define SGD_PASSES_TIME_SEQUENTIAL_BATCH_PARTS_H

#include "passes/sharding/propagation/sequential_axis.h"
#include "passes/time/sequential/loop_schedule.h"

namespace mlir::sgd {

class BatchParts {
 public:
  BatchParts(func::FuncOp function, const SequentialAxis& axis, MeshAxisAttr attr)
      : function(function), axis(axis), attr(attr) {}

  /// Arguments that are cut hold all coordinates, each of which reads its part; what depends on the coordinate inside
  /// of a loop or branch takes its number from outside.
  void widenArguments();
  /// Refuses what loops over coordinates cannot join; with `refuse` also what takes the memory of all coordinates.
  LogicalResult check(const LoopSchedule& schedule, bool refuse);
  /// How a result, an operand of the return, is over the axis. Until `setResults`.
  SequentialState getResultState(OpOperand& operand);
  /// A result that is cut and that all coordinates have alike, as often as there are coordinates.
  void repeatResult(OpOperand& operand);
  /// The types and shardings of results that hold all coordinates.
  void setResults();

 private:
  bool isPadded(DictionaryAttr attributes, RankedTensorType whole, unsigned dim);
  void setSharding(DictionaryAttr attributes, RankedTensorType whole,
                   llvm::function_ref<void(StringRef, Attribute)> set);
  void readWhole(spmd::ShardSliceOp part);
  LogicalResult checkKept(Operation* op, const LoopSchedule& schedule);
  void liftCoordinates(Block& block);
  void liftCoordinates(Operation* op);

  func::FuncOp function;
  const SequentialAxis& axis;
  MeshAxisAttr attr;
};

}  // namespace mlir::sgd

#endif
