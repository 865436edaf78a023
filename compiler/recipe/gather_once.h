// One gathered copy of a sharded parameter for all that read it whole.
#ifndef SGD_COMPILER_RECIPE_GATHER_ONCE_H
#define SGD_COMPILER_RECIPE_GATHER_ONCE_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Constrains what reads `parameter` whole to `gathered`, where that is more than one op: contractions, gathers,
/// broadcasts and transposes of it, also behind a conversion to another type. Each would gather it otherwise, in its
/// own form. Ops on elements and reductions, such as updates and norms, keep the shards; so do loops, which gather what
/// an iteration reads.
void gatherOnce(Value parameter, ShardingAttr gathered);

}  // namespace mlir::sgd

#endif
