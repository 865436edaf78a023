// The pass that closes each stage.
#ifndef SGD_PASSES_LEVELS_PASSES_H
#define SGD_PASSES_LEVELS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/levels/levels.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/levels/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/levels/passes.h.inc"

}  // namespace mlir::sgd

#endif
