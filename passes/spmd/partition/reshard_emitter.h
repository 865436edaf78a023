// Writes reshards as SPMD ops, as the planner plans them.
#ifndef SGD_PASSES_SPMD_PARTITION_RESHARD_EMITTER_H
#define SGD_PASSES_SPMD_PARTITION_RESHARD_EMITTER_H

#include "dialects/sgd/decision.h"
#include "dialects/spmd/spmd_dialect.h"
#include "passes/sharding/reshard/reshard_planner.h"

namespace mlir::sgd {

/// The range that a value is: its element e along `dim`, counted over all its tiles, which are over `results`, is
/// element offset + step * e of `source`, or `filler` (null: zero) where that is not in [0, size). `source` is in
/// tiles over `tiles`.
struct RangeOrigin {
  Value source;
  AxisParts tiles, results;
  int64_t dim, size, offset, step;
  Value filler;
};

/// `[{"data"}, {}], unreduced={"model"}`: the part of a sharding that a reader of an explanation needs.
std::string describeSharding(ShardingAttr sharding);

/// For one function of one mesh. Plans are kept, so that equal reshards are planned once.
class ReshardEmitter {
 public:
  /// `sequential` is the mesh's sequential axis, or null: nothing is sent along it.
  ReshardEmitter(func::FuncOp function, FlatSymbolRefAttr meshName, MeshAttr mesh, const CostModel& cost,
                 MeshAxisAttr sequential = {});

  /// Type of one shard. Dimensions that do not divide are padded: all shards have the size of the first.
  RankedTensorType getLocalType(RankedTensorType global) const;

  /// Rewrites `value` (local, of global type `from`) to global type `to` (same shape, other sharding) at the builder's
  /// position. `cause` is what made it necessary; the rest of the explanation is filled in. Fails with a diagnostic at
  /// `loc` when there is no plan.
  FailureOr<Value> emit(OpBuilder& builder, Location loc, Value value, RankedTensorType from, RankedTensorType to,
                        const Decision& cause);

  /// Further ops are emitted into `block`, a block of the function's program.
  void enterBlock(Block& entered) { block = &entered; }

  /// The rank's linear index over `parts`; computed once in a block, at its start.
  Value getPartitionId(Location loc, ArrayRef<AxisPart> parts);

  /// The plan from one global type to another, kept.
  FailureOr<const ReshardPlan*> getPlan(Location loc, RankedTensorType from, RankedTensorType to);

  MeshAttr getMesh() const { return mesh; }
  const CostModel& getCost() const { return cost; }

  /// The range that `value` is known to be along `dim`; null for none.
  const RangeOrigin* getOrigin(Value value, int64_t dim) const;
  void setOrigin(Value value, RangeOrigin origin) { origins[value] = std::move(origin); }

  /// `parts` as the group of a collective.
  AxisListAttr getAxes(ArrayRef<AxisPart> parts) const;

 private:
  FailureOr<Value> emitOverRanks(OpBuilder& builder, Location loc, Value value, RankedTensorType from,
                                 RankedTensorType to, const Decision& cause);
  FailureOr<Value> emitSequential(OpBuilder& builder, Location loc, Value value, RankedTensorType from,
                                  RankedTensorType to, const Decision& cause);
  FailureOr<Value> emitOneKind(OpBuilder& builder, Location loc, Value value, RankedTensorType from,
                               RankedTensorType to, const Decision& cause);
  Value emitStep(OpBuilder& builder, Location loc, Value value, const ReshardStep& step, ArrayRef<int64_t> wholeShape,
                 ReduceKind kind);
  Value emitGatherRange(OpBuilder& builder, Location loc, Value value, const ReshardStep& step, int64_t size);
  Value emitMask(OpBuilder& builder, Location loc, Value value, ArrayRef<AxisPart> axes, ReduceKind kind);
  Value emitPlace(OpBuilder& builder, Location loc, Value value, const ReshardStep& step, ReduceKind kind);

  Block* block;
  FlatSymbolRefAttr meshName;
  MeshAttr mesh;
  const CostModel& cost;
  MeshAxisAttr sequential;
  ReshardPlanner planner;
  DenseMap<std::pair<Type, Type>, ReshardPlan> plans;
  DenseMap<std::pair<Block*, Attribute>, Value> partitionIds;
  DenseMap<Value, RangeOrigin> origins;
};

}  // namespace mlir::sgd

#endif
