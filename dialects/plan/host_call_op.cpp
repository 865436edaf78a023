// Outputs of host calls are memory that is written, and the condition is one boolean.
#include "dialects/plan/host_call.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::plan;

#define GET_OP_CLASSES
#include "dialects/plan/host_call_ops.cpp.inc"

LogicalResult HostCallOp::verify() {
  for (Value output : getOutputs())
    if (getSpace(output.getType()) == Space::Constant) return emitOpError("writes to constants");
  if (!getWhen()) return success();
  auto when = cast<MemRefType>(getWhen().getType());
  if (when.getNumElements() == 1 && when.getElementType().isInteger(1)) return success();
  return emitOpError() << "has the condition " << when << "; expected one i1";
}
