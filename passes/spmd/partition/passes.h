// Passes of partitioning; see passes.td.
#ifndef SGD_PASSES_SPMD_PARTITION_PASSES_H
#define SGD_PASSES_SPMD_PARTITION_PASSES_H

#include "dialects/spmd/spmd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

/// TypeAttr on arguments and results of a localised function: the type on all ranks together.
inline constexpr llvm::StringLiteral kGlobalTypeAttr = "sgd.global_type";

#define GEN_PASS_DECL
#include "passes/spmd/partition/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/spmd/partition/passes.h.inc"

}  // namespace mlir::sgd

#endif
