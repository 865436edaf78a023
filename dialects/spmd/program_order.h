// Ops whose order is part of a program, though no value says so.
#ifndef SGD_DIALECTS_SPMD_PROGRAM_ORDER_H
#define SGD_DIALECTS_SPMD_PROGRAM_ORDER_H

#include "dialects/sgd/host_call.h"
#include "dialects/spmd/spmd_dialect.h"

namespace mlir::spmd {

/// Whether `op` is a send, a receive or a host call, or a loop or branch with one in it.
inline bool keepsOrder(Operation* op) { return usesChannels(op) || mlir::sgd::findHostCall(op); }

}  // namespace mlir::spmd

#endif
