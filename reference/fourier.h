// Semantics of the Fourier transforms of sgd.linear_algebra.
#ifndef SGD_REFERENCE_FOURIER_H
#define SGD_REFERENCE_FOURIER_H

#include "reference/ops.h"
#include "runtime/linear_algebra/form.h"

namespace mlir::sgd::reference {

/// Of each of `batch` tensors, by the definition.
void evaluateTransform(const ::sgd::linear_algebra::Form& form, int64_t batch, Operands in, ArrayRef<Tensor*> out);

}  // namespace mlir::sgd::reference

#endif
