// Local rules of ops that move elements along a sharded dimension: slice, pad, concatenate, reverse.
#ifndef SGD_PASSES_PARTITION_MOVEMENT_RULES_H
#define SGD_PASSES_PARTITION_MOVEMENT_RULES_H

#include "passes/partition/local_rules.h"

namespace mlir::sgd {

/// Each replaces the op by ranges of its sharded dimensions and itself on the others; returns the value that its uses
/// were redirected to, or null when the op stayed, with local attributes and types.
FailureOr<Value> localizeSlice(SliceOp op, const LocalisedOp& localised, ReshardEmitter& emitter);
FailureOr<Value> localizePad(PadOp op, const LocalisedOp& localised, ReshardEmitter& emitter);
FailureOr<Value> localizeConcatenate(ConcatenateOp op, const LocalisedOp& localised, ReshardEmitter& emitter);
FailureOr<Value> localizeReverse(ReverseOp op, const LocalisedOp& localised, ReshardEmitter& emitter);

}  // namespace mlir::sgd

#endif
