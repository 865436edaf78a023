#include "dialects/sgd/views.h"

#include "dialects/sgd/tensor_layout.h"

using namespace mlir;
using namespace mlir::sgd;

static std::optional<int64_t> getContiguousSliceOffset(SliceOp slice) {
  auto from = cast<RankedTensorType>(slice.getInput().getType()),
       to = cast<RankedTensorType>(slice.getResult().getType());
  if (to.getNumElements() == 0 || llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride != 1; }))
    return std::nullopt;
  // Dimensions of one element, then one that is cut, then whole ones.
  bool isInside = false;
  int64_t offset = 0;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (isInside && to.getDimSize(dim) != from.getDimSize(dim)) return std::nullopt;
    if (to.getDimSize(dim) != 1) isInside = true;
    offset = offset * from.getDimSize(dim) + slice.getStarts()[dim];
  }
  offset *= getElementBytes(from.getElementType());
  return offset % 64 == 0 ? std::optional(offset) : std::nullopt;
}

std::optional<int64_t> mlir::sgd::getViewByteOffset(Operation* op) {
  if (isa<ReshapeOp>(op)) return 0;
  if (auto slice = dyn_cast<SliceOp>(op)) return getContiguousSliceOffset(slice);
  return std::nullopt;
}

Value mlir::sgd::getViewRoot(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (!getViewByteOffset(op)) break;
    value = op->getOperand(0);
  }
  return value;
}
