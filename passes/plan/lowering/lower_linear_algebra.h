// Linear algebra as an instruction, with its workspace.
#ifndef SGD_PASSES_PLAN_LOWERING_LOWER_LINEAR_ALGEBRA_H
#define SGD_PASSES_PLAN_LOWERING_LOWER_LINEAR_ALGEBRA_H

#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/linear_algebra.h"

namespace mlir::sgd {

/// The instruction for `op`, whose tensors are in `inputs` and `outputs`.
void createLinearAlgebra(OpBuilder& builder, LinearAlgebraOp op, ArrayRef<Value> inputs, ArrayRef<Value> outputs);

}  // namespace mlir::sgd

#endif
