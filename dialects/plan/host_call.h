// The plan's instruction that calls a function of the process (host_call_ops.td).
#ifndef SGD_DIALECTS_PLAN_HOST_CALL_H
#define SGD_DIALECTS_PLAN_HOST_CALL_H

#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/host_call.h"

#define GET_OP_CLASSES
#include "dialects/plan/host_call_ops.h.inc"

namespace mlir::plan {

/// Whether `op` sends or receives messages or calls the host, or runs what does: the order of these is part of a
/// program.
bool keepsOrder(Operation* op);

}  // namespace mlir::plan

#endif
