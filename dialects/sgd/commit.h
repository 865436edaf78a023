// Conditional commits: a result of a step, that of the role `commit`, decides whether the step's other results become
// the state of the next one.
#ifndef SGD_DIALECTS_SGD_COMMIT_H
#define SGD_DIALECTS_SGD_COMMIT_H

#include "mlir/IR/Builders.h"

namespace mlir::sgd {

/// `next` where the scalar `commit` is true, else `last`, of the same type.
Value selectCommitted(OpBuilder& builder, Location loc, Value commit, Value next, Value last);

}  // namespace mlir::sgd

#endif
