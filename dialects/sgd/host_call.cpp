// The verifier of host calls, and the search for them.
#include "dialects/sgd/host_call.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

#define GET_OP_CLASSES
#include "dialects/sgd/host_call_ops.cpp.inc"

LogicalResult HostCallOp::verify() {
  auto coordinates = static_cast<int64_t>(getCoordinates());
  if (coordinates < 0 || (coordinates > 0 && !getEachRank()))
    return emitOpError() << "has " << coordinates
                         << " coordinates; expected 0, or more with each_rank; correct coordinates";
  if (getWhen() && !getEachRank())
    return emitOpError("has a condition, and rank 0 calls for all; expected it with each_rank alone; drop 'when'");
  std::optional<ArrayRef<int64_t>> shape;
  for (Type tensor : llvm::concat<const Type>(getOperandTypes(), getResultTypes())) {
    auto type = cast<RankedTensorType>(tensor);
    if (type.getRank() < coordinates)
      return emitOpError() << "has " << coordinates << " coordinates and the tensor " << type
                           << "; expected them as leading dimensions of all tensors; broadcast it";
    ArrayRef<int64_t> own = type.getShape().take_front(coordinates);
    if (shape && *shape != own)
      return emitOpError() << "has tensors with the leading dimensions [" << *shape << "] and [" << own
                           << "]; expected equal coordinates of all; broadcast one";
    shape = own;
  }
  if (!getWhen()) return success();
  auto when = cast<RankedTensorType>(getWhen().getType());
  if (when.getRank() == coordinates && when.getElementType().isInteger(1)) return success();
  return emitOpError() << "has the condition " << when << "; expected one i1 for each coordinate; reduce it";
}

HostCallOp mlir::sgd::findHostCall(Operation* op) {
  HostCallOp found;
  op->walk([&](HostCallOp call) {
    found = call;
    return WalkResult::interrupt();
  });
  return found;
}

LogicalResult mlir::sgd::refuseHostCalls(Operation* op, const Twine& reason) {
  HostCallOp call = findHostCall(op);
  if (!call) return success();
  return call.emitError() << "'" << call.getCallee() << "' calls a function of the host, " << reason;
}
