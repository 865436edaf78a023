// Which attention cuDNN takes, and in which parts, said without it.
#ifndef SGD_TARGETS_GPU_LIBRARIES_CUDNN_ATTENTION_H
#define SGD_TARGETS_GPU_LIBRARIES_CUDNN_ATTENTION_H

#include "passes/kernels/library/library_model.h"

namespace mlir::sgd::gpu {

/// cuDNN's fused attention for GPUs of all these compute capabilities (90 for 9.0), by the documented limits of 9.11
/// and later; nullopt: it has none.
std::optional<AttentionParts> getCudnnAttentionParts(const AttentionCall& call, ArrayRef<int> capabilities);

}  // namespace mlir::sgd::gpu

#endif
