// Passes that report estimated times; see passes.td.
#ifndef SGD_PASSES_TIMING_PASSES_H
#define SGD_PASSES_TIMING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/timing/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/timing/passes.h.inc"

}  // namespace mlir::sgd

#endif
