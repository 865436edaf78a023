// Values of a loop's body as they are in all trips, outside of the loop: with a leading dimension of rows, as vmap
// adds.
#ifndef SGD_PASSES_TIME_HOIST_TRIP_VALUES_H
#define SGD_PASSES_TIME_HOIST_TRIP_VALUES_H

#include "passes/graph/loops/layer_loop.h"
#include "passes/sharding/manual/batch_op.h"

namespace mlir::sgd {

/// Row r is of the trip that accesses row r of what the loop steps over, which may do so in reverse.
class TripValues {
 public:
  explicit TripValues(LayerLoop layers);

  const LayerLoop& getLoop() const { return layers; }
  Block& getBody() { return layers.op.getBody().front(); }

  /// Whether `value`, of the body, can be computed in front of the loop: of constants, counters, what no trip changes,
  /// and rows of it.
  bool isKnown(Value value) { return classify(value) != Knowledge::None; }
  /// Whether it is moreover the same in all trips.
  bool isUniform(Value value) { return classify(value) == Knowledge::Uniform; }
  /// Whether it can be computed behind the loop: of known values and of those that are stacked.
  bool isKnownBehind(Value value);
  /// Bytes per trip that get(value) writes, but for views and transposes.
  int64_t getNewBytes(Value value);

  /// Whether `op` is elementwise, moves the elements of a tensor or reduces it, and has a batching rule.
  static bool isCheap(Operation* op);

  /// The value that `value` has the elements of, in another order or shape.
  static Value getBase(Value value);

  /// Returns a known value for all trips. Ops are inserted by `builder`.
  Batched get(OpBuilder& builder, Value value);
  /// Computes `op`, a matmul or an op that isKnown accepts, for all trips.
  Batched apply(OpBuilder& builder, Operation* op, ArrayRef<Batched> operands);

  /// Whether a trip accesses its row of what the loop steps over, and all of the row.
  bool isRow(DynamicSliceOp slice);
  bool isRow(DynamicUpdateSliceOp update);
  /// The number of a trip's row, if it is known in front of `op`; else null.
  Value getRowIndex(Operation* op);

  /// Lets the loop stack `value`. Replaces the loop.
  void addStack(Value value);
  /// The iter_arg by which a trip reads `init`, from in front of the loop. May replace the loop.
  Value addInvariant(Value init);

 private:
  enum class Knowledge { None, Rows, Uniform };
  Knowledge classify(Value value);
  Knowledge classifyArgument(BlockArgument argument);
  Knowledge classifyResult(OpResult result);
  Batched getArgument(OpBuilder& builder, BlockArgument argument);

  LayerLoop layers;
  CutMesh mesh;  // with the rows as its only axis
  DenseMap<Value, Knowledge> known;
  DenseMap<Value, unsigned> stacks;  // the iter_args that hold values
};

}  // namespace mlir::sgd

#endif
