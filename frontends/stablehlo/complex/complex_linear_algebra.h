// Complex matrices of calls of LAPACK.
#ifndef SGD_FRONTENDS_STABLEHLO_COMPLEX_COMPLEX_LINEAR_ALGEBRA_H
#define SGD_FRONTENDS_STABLEHLO_COMPLEX_COMPLEX_LINEAR_ALGEBRA_H

#include "frontends/stablehlo/complex/complex_op.h"

namespace mlir::sgd {

/// A call of LAPACK ("lapack_cgetrf_ffi", ...): the same with two operands and results instead of each complex
/// one.
LogicalResult expandLapackCall(ComplexOp& c);

}  // namespace mlir::sgd

#endif
