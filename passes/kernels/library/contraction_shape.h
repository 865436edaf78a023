// How an einsum of two tensors runs as matmuls with strides, or that it cannot. Plain C++, no IR.
#ifndef SGD_PASSES_KERNELS_LIBRARY_CONTRACTION_SHAPE_H
#define SGD_PASSES_KERNELS_LIBRARY_CONTRACTION_SHAPE_H

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd {

/// A tensor whose dimensions are named; equal labels are the same dimension. Row-major without `strides`, which count
/// elements.
struct LabelledTensor {
  llvm::ArrayRef<int64_t> labels;
  llvm::ArrayRef<int64_t> sizes;
  llvm::ArrayRef<int64_t> strides = {};
};

/// c[b.., m, n] = sum over k of a[b.., m, k] * b[b.., k, n]; strides count elements, as in plan.matmul. When `swapped`,
/// a is the einsum's rhs and b its lhs. The matmul is repeated `repeats` times, accumulating in c, a and b moving on by
/// their steps each time: the rest of a contraction over dimensions that cannot be merged into one.
struct ContractionShape {
  llvm::SmallVector<int64_t, 4> batch;
  int64_t m = 1, n = 1, k = 1;
  llvm::SmallVector<int64_t, 4> aBatch, bBatch, cBatch;
  int64_t aM = 0, aK = 0, bK = 0, bN = 0, cM = 0, cN = 0;
  bool swapped = false;
  int64_t repeats = 1, aStep = 0, bStep = 0;
};

/// Limits of one call of the target's library.
struct MatmulLimits {
  int64_t batchDims = 4;  ///< with a stride each; the others are calls of their own, the largest ones come first
  int64_t elementsPerCall = 1000;  ///< that kernels move in the least time of a call
};

/// Merges neighbouring labels where all tensors allow it, takes the largest free groups as m and n and one contracted
/// group as k, and makes the others batch dimensions (at most 4; stride 0 in the operand that has not the label) or,
/// contracted and of at most 8 elements, repeats. Each matrix has stride 1 along one of its dimensions. nullopt when
/// there is no such form: an operand must be transposed first. All sizes must be positive; every label of the result is
/// in an operand, and a label of one operand alone is in the result.
/// `mayRepeat` false: one matmul alone, for results that must not accumulate in place (canAccumulateInPlace). There is
/// no form either that would take more than 16 calls for one matmul.
std::optional<ContractionShape> getContractionShape(LabelledTensor lhs, LabelledTensor rhs, LabelledTensor result,
                                                    bool mayRepeat = true, const MatmulLimits& limits = {});

/// Lower is better: how much the matmuls fall short of few, large ones. Where a call takes all batch dimensions, each
/// matrix counts; else each call.
int64_t getContractionCost(const ContractionShape& shape, const MatmulLimits& limits = {});

}  // namespace mlir::sgd

#endif
