// Passes from tensors to buffers with offsets.
#ifndef SGD_PASSES_MEMORY_PASSES_H
#define SGD_PASSES_MEMORY_PASSES_H

#include <functional>
#include <memory>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/library/library_model.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/memory/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/memory/passes.h.inc"

/// A target's description of a cluster as a kernel.
struct KernelDescription {
  int64_t range = 1;                                             ///< parallel iterations
  int64_t grain = 1;                                             ///< smallest useful part of them
  SmallVector<std::pair<unsigned, unsigned>> inPlaceCandidates;  ///< (result, operand)
  SmallVector<AxisListAttr> coordinates;
};

/// A target's view of kernels. `key` is equal for clusters that are one kernel.
struct KernelModel {
  std::function<FailureOr<KernelDescription>(fusion::ClusterOp)> describe;
  std::function<std::string(fusion::ClusterOp)> key;
};

/// sgd-lower-to-plan with a target's model of kernels, and its libraries, which outlive the pass.
std::unique_ptr<Pass> createLowerToPlanPass(KernelModel model, const LibraryModel& libraries);

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
