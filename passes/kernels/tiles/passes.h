// Matmuls and kernels that are computed together, tile by tile; see passes.td.
#ifndef SGD_PASSES_KERNELS_TILES_PASSES_H
#define SGD_PASSES_KERNELS_TILES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
namespace func {
class FuncOp;
}
namespace sgd {

#define GEN_PASS_DECL
#include "passes/kernels/tiles/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernels/tiles/passes.h.inc"

}  // namespace sgd
}  // namespace mlir

#endif
