// Linear algebra as the artifact has it.
#ifndef SGD_COMPILER_EXPORT_LINEAR_ALGEBRA_H
#define SGD_COMPILER_EXPORT_LINEAR_ALGEBRA_H

#include "compiler/export/export_slices.h"
#include "dialects/plan/linear_algebra.h"

namespace mlir::sgd {

artifact::LinearAlgebraT exportLinearAlgebra(plan::LinearAlgebraOp op, SliceExporter& slices);

}  // namespace mlir::sgd

#endif
