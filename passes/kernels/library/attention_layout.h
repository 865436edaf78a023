// Labels of attention as the dimensions [batch, heads, rows, depth] that libraries know.
#ifndef SGD_PASSES_KERNELS_LIBRARY_ATTENTION_LAYOUT_H
#define SGD_PASSES_KERNELS_LIBRARY_ATTENTION_LAYOUT_H

#include "dialects/fusion/attention.h"
#include "passes/kernels/library/library_model.h"

namespace mlir::sgd {

/// A row-major tensor and the labels of its dimensions.
struct LabelledTensorType {
  RankedTensorType type;
  SmallVector<int64_t> labels;
};

struct AttentionLayout {
  AttentionCall call;
  SmallVector<int64_t> strides;      ///< of batch, head and row, tensor by tensor
  SmallVector<int64_t> biasStrides;  ///< likewise; empty without a bias
};

/// The layout of a `fusion.library_attention` or `fusion.library_attention_gradient`, tensors in the order of operands
/// and results. nullopt where batch dimensions cannot be taken together as batches and heads, where a depth or the
/// bias's columns do not lie side by side, or where types differ.
std::optional<AttentionLayout> getLayout(fusion::LibraryAttentionOp op);
std::optional<AttentionLayout> getLayout(fusion::LibraryAttentionGradientOp op);

}  // namespace mlir::sgd

#endif
