// Passes that make reductions send less; see passes.td.
#ifndef SGD_PASSES_SPMD_COMPRESS_PASSES_H
#define SGD_PASSES_SPMD_COMPRESS_PASSES_H

#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/spmd/compress/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/spmd/compress/passes.h.inc"

/// Attaches to sgd.compressed_reduction how it becomes local.
void registerCompressedReductions(DialectRegistry& registry);

}  // namespace mlir::sgd

#endif
