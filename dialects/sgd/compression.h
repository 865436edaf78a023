// sgd.compressed_reduction and its kinds.
#ifndef SGD_DIALECTS_SGD_COMPRESSION_H
#define SGD_DIALECTS_SGD_COMPRESSION_H

#include "dialects/sgd/compression_enums.h.inc"
#include "dialects/sgd/sgd_dialect.h"

#define GET_OP_CLASSES
#include "dialects/sgd/compression_ops.h.inc"

namespace mlir::sgd {

/// Tensors that a reduction of this kind keeps from step to step.
unsigned getNumStates(CompressionKind kind);

}  // namespace mlir::sgd

#endif
