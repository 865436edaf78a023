// One manual computation as part of the graph around it.
#ifndef SGD_PASSES_SHARDING_MANUAL_MANUAL_EXPANSION_H
#define SGD_PASSES_SHARDING_MANUAL_MANUAL_EXPANSION_H

#include "dialects/sgd/host_call.h"
#include "passes/sharding/manual/batch_op.h"
#include "passes/sharding/manual/differing_axes.h"
#include "passes/sharding/manual/rank_arithmetic.h"

namespace mlir::sgd {

/// Expands a manual computation, the loops and branches in it and the computations nested in it.
class ManualExpansion {
 public:
  /// Builds at the insertion point of `builder`.
  ManualExpansion(OpBuilder& builder, FlatSymbolRefAttr meshName, const CutMesh& mesh)
      : meshName(meshName), mesh(mesh), batch(builder, mesh), ranks(mesh), differing(mesh, ranks) {}

  /// Appends the results of `op`, which is not nested in another one.
  LogicalResult expand(ManualComputationOp op, SmallVectorImpl<Batched>& results);

 private:
  LogicalResult expandNested(ManualComputationOp op, ArrayRef<Batched> inputs, SmallVectorImpl<Batched>& results);
  LogicalResult expandBlock(Block& block);
  LogicalResult expandOp(Operation* op);
  /// Fails when an operand of `op` differs along an axis that is not manual.
  LogicalResult checkOperand(Operation* op, Value operand) const;
  /// The value of the body, or one from outside that all ranks know.
  Batched lookup(Value value) const;
  /// Makes a scalar that is known for every rank where it is needed.
  void defineKnown(Location loc, Value original);
  Batched enter(ManualComputationOp op, Batched value, ShardingAttr sharding);
  Batched leave(ManualComputationOp op, Batched value, ShardingAttr sharding);
  /// Each rank's summand of a value, over these axes in ascending order, and the sum of what the ranks hold.
  Batched toSummands(Location loc, const Batched& value, const AxisIndices& axes);
  Batched sum(Location loc, const Batched& value, const AxisIndices& axes);
  /// Leading dimensions lie where their ranks are; `dims` are those of what each rank sees. The sum over `unreduced`
  /// may stay partial.
  Batched constrain(Location loc, const Batched& value, ArrayRef<DimShardingAttr> dims,
                    ArrayRef<AxisRefAttr> unreduced = {});
  /// The same, whatever the other dimensions are.
  Batched pin(Location loc, const Batched& value);
  SmallVector<DimShardingAttr> freeDims(ManualComputationOp op, ShardingAttr sharding) const;
  AxisIndices manualAxesOf(ManualComputationOp op, ArrayRef<AxisRefAttr> axes) const;

  LogicalResult expandHostCall(HostCallOp call);

  // Loops and branches (expand_control_flow.cpp).
  LogicalResult expandLoop(WhileOp loop);
  LogicalResult expandLoopBody(WhileOp loop, WhileOp expanded, ArrayRef<unsigned> passed);
  LogicalResult expandCondition(WhileOp loop, WhileOp expanded, ArrayRef<unsigned> passed);
  FailureOr<Batched> computePredicate(WhileOp loop, ArrayRef<unsigned> passed, ArrayRef<Batched> iterArgs);
  LogicalResult expandCase(CaseOp branches);
  LogicalResult expandEachBranch(CaseOp branches);
  LogicalResult expandBranch(CaseOp branches, CaseOp expanded, unsigned branch, ArrayRef<unsigned> passed);
  SmallVector<Batched> openRegion(Region& region, Region& expanded, TypeRange types, ArrayRef<AxisIndices> axes,
                                  ArrayRef<unsigned> passed, Location loc);
  Batched clampIndex(Location loc, const Batched& index, int64_t branches);
  Batched select(Location loc, const Batched& mask, const Batched& chosen, const Batched& other);

  FlatSymbolRefAttr meshName;
  const CutMesh& mesh;
  BatchBuilder batch;
  RankArithmetic ranks;
  DifferingAxes differing;
  AxisIndices manualAxes;  // of all computations around the op at hand
  /// Which ranks the block at hand runs for: others must not keep a loop in it going.
  std::optional<Batched> active;
  DenseMap<Value, Batched> values;
  DenseMap<Value, unsigned> beyond;  // scalars that differ along an axis, this one, that is not manual
};

}  // namespace mlir::sgd

#endif
