// Passes from tensors to buffers with offsets.
#ifndef SGD_PASSES_MEMORY_PASSES_H
#define SGD_PASSES_MEMORY_PASSES_H

#include <functional>
#include <memory>

#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/schedule/contraction_shape.h"
#include "passes/schedule/convolution_model.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/memory/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/memory/passes.h.inc"

/// What a target says about a cluster as a kernel.
struct KernelDescription {
  int64_t range = 1;                                             ///< parallel iterations
  int64_t grain = 1;                                             ///< smallest useful part of them
  SmallVector<std::pair<unsigned, unsigned>> inPlaceCandidates;  ///< (result, operand)
  SmallVector<AxisListAttr> coordinates;
  int64_t flops = 0;
  int64_t bytes = 0;  ///< read and written; 0: not known
};

/// A target's view of kernels. `key` is equal for clusters that are one kernel.
struct KernelModel {
  std::function<FailureOr<KernelDescription>(ClusterOp)> describe;
  std::function<std::string(ClusterOp)> key;
  ConvolutionModel convolutions = {};
};

/// sgd-to-plan with a target's model, and what its products take.
std::unique_ptr<Pass> createToPlanPass(KernelModel model, const ProductLimits& products);

/// Whether a target's library computes a convolution with an epilogue. Null: every one with any.
using ConvolutionEpilogues = std::function<bool(plan::ConvolutionOp, plan::Epilogue)>;

/// sgd-fuse-epilogues with what a target's convolutions take.
std::unique_ptr<Pass> createFuseEpiloguesPass(const FuseEpiloguesPassOptions& options,
                                              ConvolutionEpilogues convolutions);

/// On results of plan-level functions: the argument whose buffer the result is to take (IntegerAttr).
inline constexpr llvm::StringLiteral kAliasAttr = "plan.alias";
/// On collectives that are split: what hides them, `{hidden_seconds, seconds}` (DictionaryAttr of f64).
inline constexpr llvm::StringLiteral kOverlapAttr = "plan.overlap";
/// On the module: bytes of the two spaces (IntegerAttr).
inline constexpr llvm::StringLiteral kPrivateBytesAttr = "plan.private_bytes";
inline constexpr llvm::StringLiteral kWindowBytesAttr = "plan.window_bytes";

}  // namespace mlir::sgd

#endif
