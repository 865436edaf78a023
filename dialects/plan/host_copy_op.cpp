// One side of a host copy is the host's, and each is ended once.
#include "dialects/plan/host_copy.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::plan;

#define GET_OP_CLASSES
#include "dialects/plan/host_copy_ops.cpp.inc"

LogicalResult HostCopyOp::verify() {
  Space from = mlir::plan::getSpace(getSource().getType()), to = mlir::plan::getSpace(getTarget().getType());
  if ((from == Space::Host) == (to == Space::Host) || to == Space::Constant)
    return emitOpError() << "copies from " << stringifySpace(from) << " to " << stringifySpace(to)
                         << " memory; expected host memory on one side, and none that is read-only as the target";
  if (getByteSize(getSource().getType()) != getByteSize(getTarget().getType()))
    return emitOpError("source and target differ in size");
  if (!getToken().hasOneUse()) return emitOpError("is ended exactly once");
  return success();
}

HostCopyOp HostCopiedOp::getCopy() { return getToken().getDefiningOp<HostCopyOp>(); }

LogicalResult HostCopiedOp::verify() {
  HostCopyOp copy = getCopy();
  if (!copy || copy->getBlock() != (*this)->getBlock()) return emitOpError("ends a host copy of its own block");
  return success();
}
