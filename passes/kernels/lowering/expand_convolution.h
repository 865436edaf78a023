// Expands convolutions that are poor matmuls into elementwise ops and reductions.
#ifndef SGD_PASSES_KERNELS_LOWERING_EXPAND_CONVOLUTION_H
#define SGD_PASSES_KERNELS_LOWERING_EXPAND_CONVOLUTION_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::sgd {

/// The result of a depthwise convolution or of its gradient by the kernel: with one input feature per group, the sum of
/// the lhs, shifted to each element of the kernel, times that element; with one row and one output feature per group
/// and window, a reduction of the shifted lhs times the rhs for each window. Null for other convolutions, and for those
/// of too many shifts. Sums of bf16 and f16 are f32.
Value expandConvolution(OpBuilder& builder, ConvolutionOp op);

}  // namespace mlir::sgd

#endif
