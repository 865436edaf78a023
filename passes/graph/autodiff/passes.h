// Reverse-mode differentiation at graph level; see passes.td.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_PASSES_H
#define SGD_PASSES_GRAPH_AUTODIFF_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
namespace func {
class FuncOp;
}
namespace sgd {

#define GEN_PASS_DECL
#include "passes/graph/autodiff/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/graph/autodiff/passes.h.inc"

}  // namespace sgd
}  // namespace mlir

#endif
