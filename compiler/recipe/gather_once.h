// One gathered copy of a sharded parameter for all that read it whole.
#ifndef SGD_COMPILER_RECIPE_GATHER_ONCE_H
#define SGD_COMPILER_RECIPE_GATHER_ONCE_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Constrains the ops that read `parameter` whole (readsWhole) to `gathered`, also behind a conversion to another type.
/// Several such ops would each gather it in a form of their own, and a loop would gather it in every iteration. One op
/// outside of loops is left alone. Updates and norms keep the shards; so do loops over layers, which gather the rows
/// that an iteration reads.
void gatherOnce(Value parameter, ShardingAttr gathered);

}  // namespace mlir::sgd

#endif
