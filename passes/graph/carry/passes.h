// Passes on what steps carry; see passes.td.
#ifndef SGD_PASSES_GRAPH_CARRY_PASSES_H
#define SGD_PASSES_GRAPH_CARRY_PASSES_H

#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/graph/carry/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/graph/carry/passes.h.inc"

}  // namespace mlir::sgd

#endif
