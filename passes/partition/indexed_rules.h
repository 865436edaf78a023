// Ops that read or write at run-time indices, for one shard: where an indexed dimension is sharded, indices become
// local and what lies on other ranks is masked. Sizes are global, so that clamping and dropping are those of the whole
// op, and tiles may be uneven.
#ifndef SGD_PASSES_PARTITION_INDEXED_RULES_H
#define SGD_PASSES_PARTITION_INDEXED_RULES_H

#include "passes/partition/local_rules.h"

namespace mlir::sgd {

/// As `localizeOp`. Along an indexed dimension of the operand that is sharded each rank contributes the elements it
/// holds: the result is a sum over those axes (of booleans a disjunction).
FailureOr<Value> localizeGather(GatherOp op, const LocalisedOp& localised, ReshardEmitter& emitter);
FailureOr<Value> localizeDynamicSlice(DynamicSliceOp op, const LocalisedOp& localised, ReshardEmitter& emitter);

/// As `localizeOp`. Each rank writes what falls into its shard.
FailureOr<Value> localizeScatter(ScatterOp op, const LocalisedOp& localised, ReshardEmitter& emitter);
FailureOr<Value> localizeDynamicUpdateSlice(DynamicUpdateSliceOp op, const LocalisedOp& localised,
                                            ReshardEmitter& emitter);

}  // namespace mlir::sgd

#endif
