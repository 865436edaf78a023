// What sgd.linear_algebra means.
#ifndef SGD_REFERENCE_LINEAR_ALGEBRA_H
#define SGD_REFERENCE_LINEAR_ALGEBRA_H

#include "reference/ops.h"

namespace mlir::sgd::reference {

/// Fails, with a diagnostic, on kinds whose results only LAPACK has.
LogicalResult evaluateLinearAlgebra(Operation* op, Operands in, ArrayRef<Tensor*> out);

/// The same of complex matrices.
LogicalResult evaluateComplexLinearAlgebra(Operation* op, Operands in, ArrayRef<Tensor*> out);

}  // namespace mlir::sgd::reference

#endif
