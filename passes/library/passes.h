// Passes that give ops to a target's libraries; see passes.td.
#ifndef SGD_PASSES_LIBRARY_PASSES_H
#define SGD_PASSES_LIBRARY_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Pass/Pass.h"
#include "passes/library/attention_model.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/library/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/library/passes.h.inc"

/// sgd-give-attention-to-library for a target.
std::unique_ptr<Pass> createGiveAttentionToLibraryPass(AttentionModel model);

}  // namespace mlir::sgd

#endif
