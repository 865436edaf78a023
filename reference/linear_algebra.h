// What sgd.linear_algebra means, in parts.
#ifndef SGD_REFERENCE_LINEAR_ALGEBRA_H
#define SGD_REFERENCE_LINEAR_ALGEBRA_H

#include "dialects/sgd/linear_algebra.h"
#include "reference/ops.h"

namespace mlir::sgd::reference {

/// Of complex matrices. Fails, with a diagnostic, on kinds whose results only LAPACK has.
LogicalResult evaluateComplexLinearAlgebra(LinearAlgebraOp op, Operands in, Results out);

}  // namespace mlir::sgd::reference

#endif
