// Passes over loops over layers; see passes.td.
#ifndef SGD_PASSES_TIME_LAYERS_PASSES_H
#define SGD_PASSES_TIME_LAYERS_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/time/layers/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/time/layers/passes.h.inc"

}  // namespace mlir::sgd

#endif
