// Passes on manual computations; see passes.td.
#ifndef SGD_PASSES_SHARDING_MANUAL_PASSES_H
#define SGD_PASSES_SHARDING_MANUAL_PASSES_H

#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/sharding/manual/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/sharding/manual/passes.h.inc"

}  // namespace mlir::sgd

#endif
