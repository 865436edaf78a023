// fusion.matmul to plan.matmul.
#ifndef SGD_PASSES_PLAN_LOWERING_LOWER_MATMUL_H
#define SGD_PASSES_PLAN_LOWERING_LOWER_MATMUL_H

#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/sgd_dialect.h"
#include "passes/kernels/library/contraction_shape.h"

namespace mlir::sgd {

/// A tensor in a buffer: from element `offset` on, with strides in elements, one per dimension; row-major without them.
struct StridedBuffer {
  Value buffer;
  int64_t offset = 0;
  SmallVector<int64_t> strides = {};
};

/// An fusion.matmul, or the contraction in an op like it: its result is the first one of `op`.
struct Contraction {
  template <typename OpTy>
  explicit Contraction(OpTy op)
      : op(op), lhsLabels(op.getLhsLabels()), rhsLabels(op.getRhsLabels()), resultLabels(op.getResultLabels()) {}

  Operation* op;
  ArrayRef<int64_t> lhsLabels, rhsLabels, resultLabels;
};

/// Creates the matmuls for `contraction` on the buffers of its operands and result, and returns the last of them; with
/// `add` they accumulate into the result. Emits an error on a contraction that is not a strided
/// matmul.
FailureOr<plan::MatmulOp> createMatmuls(OpBuilder& builder, const Contraction& contraction, const StridedBuffer& lhs,
                                        const StridedBuffer& rhs, const StridedBuffer& result, bool add = false,
                                        const MatmulLimits& limits = {});

}  // namespace mlir::sgd

#endif
