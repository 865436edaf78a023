// Matrices of a few long columns made orthonormal, many at once.
#ifndef SGD_PASSES_SPMD_COMPRESS_ORTHOGONAL_COLUMNS_H
#define SGD_PASSES_SPMD_COMPRESS_ORTHOGONAL_COLUMNS_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// For each of `matrices`, [rows, rank] with one rank for all, a matrix of the same shape: orthonormal columns that
/// span the same space. Directions of which a matrix has less than a thousandth of all it has come out shorter, so that
/// the product with the transposed is never longer than what it is taken of. Zeros stay zeros.
SmallVector<Value> makeOrthonormal(TensorMath& math, ArrayRef<Value> matrices);

}  // namespace mlir::sgd

#endif
