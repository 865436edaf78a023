// How tensors lie in memory: row-major, elements in whole bytes.
#ifndef SGD_DIALECTS_SGD_TENSOR_LAYOUT_H
#define SGD_DIALECTS_SGD_TENSOR_LAYOUT_H

#include "llvm/Support/MathExtras.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::sgd {

/// Bytes of one element; a boolean takes one.
inline int64_t getElementBytes(Type elementType) {
  return static_cast<int64_t>(llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8));
}

/// Bytes of a tensor or memref, alignment excluded. 0 for types that are neither, or of no static shape.
inline int64_t getByteSize(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape() || !shaped.getElementType().isIntOrFloat()) return 0;
  return shaped.getNumElements() * getElementBytes(shaped.getElementType());
}

/// Elements from one index of each dimension to the next.
inline SmallVector<int64_t> getRowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

}  // namespace mlir::sgd

#endif
