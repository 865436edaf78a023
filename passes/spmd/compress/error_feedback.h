// The error of a compressed reduction on one rank: added before something is sent, kept after.
#ifndef SGD_PASSES_SPMD_COMPRESS_ERROR_FEEDBACK_H
#define SGD_PASSES_SPMD_COMPRESS_ERROR_FEEDBACK_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// `input` and its error, which is of f32 and has a first dimension of one element more; in f32.
Value addError(TensorMath& math, Value input, Value error);

/// The error to keep. A step with infinities or NaNs sends these and keeps zeros in their place.
Value keepFinite(TensorMath& math, Value value);

}  // namespace mlir::sgd

#endif
