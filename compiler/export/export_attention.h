// Attention by a library as the artifact has it.
#ifndef SGD_COMPILER_EXPORT_ATTENTION_H
#define SGD_COMPILER_EXPORT_ATTENTION_H

#include "compiler/export/export_slices.h"
#include "dialects/plan/attention.h"

namespace mlir::sgd {

// Both put an error on their op for an element type that artifacts do not have.
FailureOr<artifact::AttentionT> exportAttention(plan::AttentionOp attention, SliceExporter& slices);
FailureOr<artifact::AttentionT> exportAttention(plan::AttentionGradientOp gradient, SliceExporter& slices);

}  // namespace mlir::sgd

#endif
