// fusion.library_attention and its gradient to instructions.
#ifndef SGD_PASSES_PLAN_LOWERING_LOWER_ATTENTION_H
#define SGD_PASSES_PLAN_LOWERING_LOWER_ATTENTION_H

#include "dialects/plan/plan_dialect.h"

namespace mlir::sgd {

/// The instruction for `op` on the buffers of its operands and results, with a workspace. Emits an error where its
/// dimensions are not those of libraries.
LogicalResult createAttention(OpBuilder& builder, Operation* op, ArrayRef<Value> inputs, ArrayRef<Value> outputs);

}  // namespace mlir::sgd

#endif
