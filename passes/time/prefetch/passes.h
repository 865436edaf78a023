// Gathers that start an iteration ahead; see passes.td.
#ifndef SGD_PASSES_TIME_PREFETCH_PASSES_H
#define SGD_PASSES_TIME_PREFETCH_PASSES_H

#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/time/prefetch/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/time/prefetch/passes.h.inc"

}  // namespace mlir::sgd

#endif
