// Calls of texts that have helper functions.
#ifndef SGD_FRONTENDS_NATIVE_INLINE_CALLS_H
#define SGD_FRONTENDS_NATIVE_INLINE_CALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Replaces calls by what they call, and drops private functions. Fails with a diagnostic where functions call
/// themselves, and where too many ops would arise (frontends/text/inlined_ops.h).
LogicalResult inlineCalls(ModuleOp module);

}  // namespace mlir::sgd

#endif
