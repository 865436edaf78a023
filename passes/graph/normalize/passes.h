// The order of a graph's ops and of the dimensions of its tensors; see passes.td.
#ifndef SGD_PASSES_GRAPH_NORMALIZE_PASSES_H
#define SGD_PASSES_GRAPH_NORMALIZE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
namespace func {
class FuncOp;
}
namespace sgd {

#define GEN_PASS_DECL
#include "passes/graph/normalize/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/graph/normalize/passes.h.inc"

}  // namespace sgd
}  // namespace mlir

#endif
