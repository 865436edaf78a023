// The type and the sizes of a tensor value.
#ifndef SGD_DIALECTS_SGD_TENSOR_TYPE_H
#define SGD_DIALECTS_SGD_TENSOR_TYPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::sgd {

/// Returns the type of a value that is a ranked tensor, as all values of the graph level are.
inline RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Its sizes.
inline ArrayRef<int64_t> shapeOf(Value value) { return tensorType(value).getShape(); }

}  // namespace mlir::sgd

#endif
