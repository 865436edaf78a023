// How one rank computes a compressed reduction.
#ifndef SGD_PASSES_COMPRESS_LOCAL_REDUCTIONS_H
#define SGD_PASSES_COMPRESS_LOCAL_REDUCTIONS_H

#include "dialects/sgd/compression.h"
#include "passes/partition/local_rules.h"

namespace mlir::sgd {

/// The cause of all movements of `op`, which is about to become local.
Explanation explainReduction(CompressedReductionOp op, const LocalisedOp& localised);

}  // namespace mlir::sgd

#endif
