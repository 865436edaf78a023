// Buffers of library calls: parts of others, and workspaces.
#ifndef SGD_PASSES_PLAN_LOWERING_CALL_BUFFERS_H
#define SGD_PASSES_PLAN_LOWERING_CALL_BUFFERS_H

#include "dialects/plan/plan_dialect.h"

namespace mlir::sgd {

/// The part of `buffer` from element `offset` on; calls read no further than their strides reach.
Value viewFrom(OpBuilder& builder, Location loc, Value buffer, int64_t offset);

/// Private memory of `bytes`; null for none.
Value createWorkspace(OpBuilder& builder, Location loc, int64_t bytes);

}  // namespace mlir::sgd

#endif
