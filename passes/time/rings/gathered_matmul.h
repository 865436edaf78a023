// Matmuls of an all-gathered operand, as a ring.
#ifndef SGD_PASSES_TIME_RINGS_GATHERED_MATMUL_H
#define SGD_PASSES_TIME_RINGS_GATHERED_MATMUL_H

#include "dialects/spmd/spmd_dialect.h"
#include "passes/time/rings/matmul_blocks.h"

namespace mlir::sgd {

struct GatheredMatmul {
  spmd::AllGatherOp gather;
  SmallVector<FreeDim, 1> dots;  // in the order of the block
  bool isReadWhole = false;      // by others

  /// Nothing where no matmul reads the gathered dimension as rows, where something reads the operand before the first
  /// does, or where it can be gathered early.
  static std::optional<GatheredMatmul> find(spmd::AllGatherOp gather);

  void apply();
};

}  // namespace mlir::sgd

#endif
