// Contractions and convolutions with epilogues as ops (library_ops.td).
#ifndef SGD_DIALECTS_FUSION_LIBRARY_CALLS_H
#define SGD_DIALECTS_FUSION_LIBRARY_CALLS_H

#include "dialects/fusion/epilogue.h"
#include "dialects/fusion/fusion_dialect.h"

#define GET_OP_CLASSES
#include "dialects/fusion/library_ops.h.inc"

namespace mlir::fusion {

/// The tensor that the call `op` adds its sums to and in whose buffer it writes them; null where there is none, and for
/// other ops.
Value getResidual(Operation* op);

}  // namespace mlir::fusion

#endif
