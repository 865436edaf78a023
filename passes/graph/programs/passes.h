// Passes over the programs of one artifact; see passes.td.
#ifndef SGD_PASSES_GRAPH_PROGRAMS_PASSES_H
#define SGD_PASSES_GRAPH_PROGRAMS_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/graph/programs/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/graph/programs/passes.h.inc"

}  // namespace mlir::sgd

#endif
