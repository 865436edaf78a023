// Propagation decides conflicts where it meets them, by order. This looks at what a conflict costs and moves it to
// where it costs less.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_RESOLVE_CONFLICTS_H
#define SGD_PASSES_SHARDING_PROPAGATION_RESOLVE_CONFLICTS_H

#include "passes/sharding/propagation/propagation.h"

namespace mlir::sgd {

/// Gives groups of values, each joined by elementwise ops and so sharded alike, another sharding where that lowers the
/// bytes which the ops around them move: one of those that ops in conflict with the group ask for. User
/// annotations stay. Returns the number of groups that changed. The cost never rises, so it ends.
unsigned resolveConflicts(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map);

}  // namespace mlir::sgd

#endif
