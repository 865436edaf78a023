// Which attention cuDNN takes, and in which parts, said without it.
#ifndef SGD_COMPILER_CUDNN_ATTENTION_H
#define SGD_COMPILER_CUDNN_ATTENTION_H

#include "llvm/ADT/ArrayRef.h"
#include "passes/library/attention_model.h"

namespace mlir::sgd {

/// cuDNN's fused attention for GPUs of all these compute capabilities (90 for 9.0), by the documented limits of 9.11
/// and later.
AttentionModel getCudnnAttention(llvm::ArrayRef<int> capabilities);

}  // namespace mlir::sgd

#endif
