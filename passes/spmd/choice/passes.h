// The choice between ways to shard a whole program; see passes.td.
#ifndef SGD_PASSES_SPMD_CHOICE_PASSES_H
#define SGD_PASSES_SPMD_CHOICE_PASSES_H

#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/spmd/choice/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/spmd/choice/passes.h.inc"

}  // namespace mlir::sgd

#endif
