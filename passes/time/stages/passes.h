// Passes of pipelines; see passes.td.
#ifndef SGD_PASSES_TIME_STAGES_PASSES_H
#define SGD_PASSES_TIME_STAGES_PASSES_H

#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/time/stages/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/time/stages/passes.h.inc"

}  // namespace mlir::sgd

#endif
