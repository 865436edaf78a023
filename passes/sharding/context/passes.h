// Passes of attention over a sharded sequence; see passes.td.
#ifndef SGD_PASSES_SHARDING_CONTEXT_PASSES_H
#define SGD_PASSES_SHARDING_CONTEXT_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/sharding/context/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/sharding/context/passes.h.inc"

}  // namespace mlir::sgd

#endif
