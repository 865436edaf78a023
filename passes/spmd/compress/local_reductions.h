// How one rank computes a compressed reduction.
#ifndef SGD_PASSES_SPMD_COMPRESS_LOCAL_REDUCTIONS_H
#define SGD_PASSES_SPMD_COMPRESS_LOCAL_REDUCTIONS_H

#include "dialects/sgd/compression.h"
#include "passes/spmd/partition/local_rules.h"

namespace mlir::sgd {

/// The cause of all movements of an input of `op`, which is about to become local.
Decision explainReduction(CompressedReductionOp op, const LocalisedOp& localised, unsigned input);

/// Replace `op` by local ops and collectives, as a LocalRuleOpInterface does; by kind.
FailureOr<Value> localizeInBlocks(CompressedReductionOp op, const LocalisedOp& localised, ReshardEmitter& emitter);
FailureOr<Value> localizeLargest(CompressedReductionOp op, const LocalisedOp& localised, ReshardEmitter& emitter);
FailureOr<Value> localizeLowRank(CompressedReductionOp op, const LocalisedOp& localised, ReshardEmitter& emitter);

}  // namespace mlir::sgd

#endif
