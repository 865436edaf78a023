// Sums over dimensions.
#include "dialects/plan/verify_reach.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::plan;

LogicalResult mlir::plan::verifyReach(Operation* op, StringRef name, Value buffer, ArrayRef<int64_t> sizes,
                                      ArrayRef<int64_t> strides) {
  if (strides.size() != sizes.size())
    return op->emitOpError() << name << " has " << strides.size() << " strides for " << sizes.size() << " dimensions";
  if (llvm::is_contained(sizes, 0)) return success();
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    if (stride < 0) return op->emitOpError() << name << " has a negative stride";
    last += (size - 1) * stride;
  }
  int64_t elements = cast<MemRefType>(buffer.getType()).getNumElements();
  if (last >= elements) return op->emitOpError() << name << " reaches element " << last << " of " << elements;
  return success();
}
