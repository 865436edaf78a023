// Passes that move work out of loops; see passes.td.
#ifndef SGD_PASSES_TIME_HOIST_PASSES_H
#define SGD_PASSES_TIME_HOIST_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/time/hoist/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/time/hoist/passes.h.inc"

}  // namespace mlir::sgd

#endif
