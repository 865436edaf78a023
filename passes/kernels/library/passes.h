// Passes that give ops to a target's libraries; see passes.td.
#ifndef SGD_PASSES_KERNELS_LIBRARY_PASSES_H
#define SGD_PASSES_KERNELS_LIBRARY_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Pass/Pass.h"
#include "passes/kernels/library/library_model.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/kernels/library/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernels/library/passes.h.inc"

/// sgd-offload-attention for a target's libraries, which outlive the pass.
std::unique_ptr<Pass> createOffloadAttentionPass(const LibraryModel& libraries);

}  // namespace mlir::sgd

#endif
