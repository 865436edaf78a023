// How the dimensions of a scatter's operand, updates and indices belong together.
// https://github.com/openxla/stablehlo/blob/main/docs/spec.md#scatter
#ifndef SGD_TARGETS_KERNELS_SCATTER_SHAPE_H
#define SGD_TARGETS_KERNELS_SCATTER_SHAPE_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd::kernels {

struct ScatterShape {
  explicit ScatterShape(ScatterOp op);

  /// A dimension of the operand. Its position is start + window index, or the batch index.
  struct OperandDim {
    int64_t size, stride;
    int64_t component = -1;  // of the index vector, for the start; -1: starts at 0
    int64_t updateDim = -1;  // window or batch dimension of the updates; -1: none, the window has size 1
    int64_t window = 1;      // size of the window along it
    bool isBatching = false;

    /// The position is the window index, whatever the indices say.
    bool isFixed() const { return component < 0 && !isBatching && window == size; }
  };
  SmallVector<OperandDim> operand;
  SmallVector<int64_t> updateSizes, updateStrides;
  SmallVector<int64_t>
      indexStrides;          // by update dimension: a step along it, in the index tensor; 0 for window dimensions
  SmallVector<bool> isFree;  // by update dimension: a batch dimension that no operand dimension follows
  int64_t componentStride = 0;
  /// Updates that may meet at one element, window overlaps aside.
  int64_t freeUpdates = 1;
};

}  // namespace mlir::sgd::kernels

#endif
