// Kernels of attention and its gradients: scores live in registers, one square of them at a time. A block has 64 rows
// (queries; keys where their gradient is computed) and goes through the other side 64 at a time, in order.
#ifndef SGD_TARGETS_GPU_CODEGEN_ATTENTION_KERNELS_H
#define SGD_TARGETS_GPU_CODEGEN_ATTENTION_KERNELS_H

#include "dialects/fusion/attention.h"
#include "llvm/IR/Module.h"
#include "targets/kernels/kernel_interface.h"

namespace mlir::sgd::gpu {

using namespace kernels;

/// The op of a cluster that is such a kernel and holds nothing else, or null.
fusion::AttentionOpInterface getAttention(fusion::ClusterOp cluster);

/// As describeKernel. Emits an error on types and depths that no kernel takes.
FailureOr<KernelInterface> describeAttention(fusion::AttentionOpInterface op);

/// Threads of a block.
unsigned attentionThreads(fusion::AttentionOpInterface op);

/// Blocks that a multiprocessor runs at once when threads use all the registers that they can: passed to ptxas,
/// which would rather spill some registers than have fewer blocks.
unsigned attentionBlocksPerProcessor(fusion::AttentionOpInterface op);

/// Adds the function.
void emitAttentionKernel(llvm::Module& module, fusion::AttentionOpInterface op, const KernelRequest& request);
void emitAttentionForward(llvm::Module& module, fusion::AttentionOpInterface op, const KernelRequest& request);
void emitQueryGradient(llvm::Module& module, fusion::AttentionOpInterface op, const KernelRequest& request);
void emitKeyGradient(llvm::Module& module, fusion::AttentionOpInterface op, const KernelRequest& request);

/// The greatest depth, of keys and of values: more does not fit into registers.
inline constexpr int64_t kMostDepth = 256;

}  // namespace mlir::sgd::gpu

#endif
