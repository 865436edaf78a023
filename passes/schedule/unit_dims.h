// Ops that only move or add dimensions of one element.
#ifndef SGD_PASSES_SCHEDULE_UNIT_DIMS_H
#define SGD_PASSES_SCHEDULE_UNIT_DIMS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Replaces transposes and broadcasts in `block`, of values that lie in memory, that leave every element where it is by
/// reshapes, which cost nothing. Runs when contractions have taken their transposes.
void replaceByReshapes(Block& block);

}  // namespace mlir::sgd

#endif
