// Ops that only move, add or reduce dimensions of one element.
#ifndef SGD_PASSES_KERNELS_CLUSTERS_UNIT_DIMS_H
#define SGD_PASSES_KERNELS_CLUSTERS_UNIT_DIMS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Replaces transposes, broadcasts and reductions in `block`, of values in memory, that change no element by
/// reshapes, which cost nothing. Runs after the transposes around contractions are folded.
void replaceByReshapes(Block& block);

}  // namespace mlir::sgd

#endif
