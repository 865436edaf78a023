// fusion.convolution to plan.convolution.
#ifndef SGD_PASSES_PLAN_LOWERING_LOWER_CONVOLUTION_H
#define SGD_PASSES_PLAN_LOWERING_LOWER_CONVOLUTION_H

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/sgd_dialect.h"
#include "passes/kernels/library/library_model.h"

namespace mlir::sgd {

/// Creates the convolutions for the op on the row-major buffers of its operands and result; with a residual the latter
/// holds that. The zeros of a dilated lhs are never read: unless the target takes them, windows that begin at equal
/// distances from its elements are a convolution of their own.
void createConvolutions(OpBuilder& builder, fusion::ConvolutionOp op, Value lhs, Value rhs, Value result,
                        const LibraryModel& libraries);
/// `bias` may be null.
void createConvolutions(OpBuilder& builder, fusion::LibraryConvolutionOp op, Value lhs, Value rhs, Value bias,
                        Value result, const LibraryModel& libraries);

}  // namespace mlir::sgd

#endif
