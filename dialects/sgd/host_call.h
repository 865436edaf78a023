// Calls of functions of the process that runs the program (host_call_ops.td).
#ifndef SGD_DIALECTS_SGD_HOST_CALL_H
#define SGD_DIALECTS_SGD_HOST_CALL_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::sgd {

/// The memory resource of host calls: the process around the program.
struct HostResource : SideEffects::Resource::Base<HostResource> {
  StringRef getName() final { return "host"; }
};

}  // namespace mlir::sgd

#define GET_OP_CLASSES
#include "dialects/sgd/host_call_ops.h.inc"

namespace mlir::sgd {

/// The first host call in `op` or its regions; null for none.
HostCallOp findHostCall(Operation* op);

/// Fails at the first host call in `op`, which `reason` says why there may not be one in.
LogicalResult refuseHostCalls(Operation* op, const Twine& reason);

}  // namespace mlir::sgd

#endif
