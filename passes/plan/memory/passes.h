// From buffers to offsets; see passes.td.
#ifndef SGD_PASSES_PLAN_MEMORY_PASSES_H
#define SGD_PASSES_PLAN_MEMORY_PASSES_H

#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/kernels/library/library_model.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/plan/memory/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/plan/memory/passes.h.inc"

/// sgd-assign-workspaces for a target's libraries, which outlive the pass.
std::unique_ptr<Pass> createAssignWorkspacesPass(const LibraryModel& libraries);

/// On results of plan-level functions: the argument whose buffer the result is to take (IntegerAttr).
inline constexpr llvm::StringLiteral kAliasAttr = "plan.alias";
/// On the module: bytes of the spaces (IntegerAttr); of the host's where there are any.
inline constexpr llvm::StringLiteral kPrivateBytesAttr = "plan.private_bytes";
inline constexpr llvm::StringLiteral kWindowBytesAttr = "plan.window_bytes";
inline constexpr llvm::StringLiteral kHostBytesAttr = "plan.host_bytes";
/// On the module of a pipeline: the same of each stage, [private, window] and, where it has any, host (ArrayAttr of
/// DenseI64ArrayAttr).
inline constexpr llvm::StringLiteral kStageBytesAttr = "plan.stage_bytes";

}  // namespace mlir::sgd

#endif
