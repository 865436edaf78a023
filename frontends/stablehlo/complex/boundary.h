// Complex arguments and results of public functions: tensors of reals with a last dimension of two.
#ifndef SGD_FRONTENDS_STABLEHLO_COMPLEX_BOUNDARY_H
#define SGD_FRONTENDS_STABLEHLO_COMPLEX_BOUNDARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// The real tensor that holds the complex tensor `type` at the boundary: real and imaginary part side by side.
RankedTensorType getPairType(Type type);

/// Changes the type of `function`, not of its block, and the attributes of arguments and results: shardings say that
/// the last dimension is whole, and complex64 is marked as such.
LogicalResult pairBoundary(mlir::func::FuncOp function);

/// The `mhlo.sharding` string `text` of a tensor, for the tensor with one more dimension, which is whole.
std::string appendWholeDim(StringRef text);

}  // namespace mlir::sgd

#endif
