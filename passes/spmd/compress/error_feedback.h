// The error of a compressed reduction on one rank: added before something is sent, kept after.
#ifndef SGD_PASSES_SPMD_COMPRESS_ERROR_FEEDBACK_H
#define SGD_PASSES_SPMD_COMPRESS_ERROR_FEEDBACK_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// `input` and its error, which is of f32 and has a first dimension of one element more; in f32.
Value addError(TensorMath& math, Value input, Value error);

/// What there is to keep: a step with infinities or NaNs sends these, and leaves nothing of them for the next one.
Value keepFinite(TensorMath& math, Value value);

}  // namespace mlir::sgd

#endif
