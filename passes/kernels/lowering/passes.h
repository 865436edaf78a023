// From ops of local shapes to matmuls, convolutions, sorts and scans that kernels and libraries compute; see passes.td.
#ifndef SGD_PASSES_KERNELS_LOWERING_PASSES_H
#define SGD_PASSES_KERNELS_LOWERING_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/kernels/library/library_model.h"

namespace mlir {
namespace func {
class FuncOp;
}
namespace sgd {

#define GEN_PASS_DECL
#include "passes/kernels/lowering/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernels/lowering/passes.h.inc"

/// Passes that ask a target's libraries, which outlive them.
std::unique_ptr<Pass> createLowerConvolutionsPass(const LibraryModel& libraries);
std::unique_ptr<Pass> createLowerDotGeneralsPass(const LibraryModel& libraries);

}  // namespace sgd
}  // namespace mlir

#endif
