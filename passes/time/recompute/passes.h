// Loops that compute again what an earlier loop would stack for them; see passes.td.
#ifndef SGD_PASSES_TIME_RECOMPUTE_PASSES_H
#define SGD_PASSES_TIME_RECOMPUTE_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/time/recompute/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/time/recompute/passes.h.inc"

/// How many steps sgd-recompute-in-loops can take in the function that has most.
FailureOr<unsigned> countLoopSteps(ModuleOp module, StringRef topologyName);

}  // namespace mlir::sgd

#endif
