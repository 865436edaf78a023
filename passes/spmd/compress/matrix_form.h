// A tensor as a matrix, for approximations of low rank; by plain numbers.
#ifndef SGD_PASSES_SPMD_COMPRESS_MATRIX_FORM_H
#define SGD_PASSES_SPMD_COMPRESS_MATRIX_FORM_H

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"

namespace mlir::sgd {

/// The elements in order, in rows of equal length.
struct MatrixForm {
  int64_t rows = 1, columns = 1;

  /// The first dimensions are rows and the others columns, cut where the factors of an approximation are smallest.
  static MatrixForm get(llvm::ArrayRef<int64_t> shape);
};

}  // namespace mlir::sgd

#endif
