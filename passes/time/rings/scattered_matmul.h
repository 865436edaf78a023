// A matmul whose result is reduce-scattered, as a ring.
#ifndef SGD_PASSES_TIME_RINGS_SCATTERED_MATMUL_H
#define SGD_PASSES_TIME_RINGS_SCATTERED_MATMUL_H

#include "dialects/spmd/spmd_dialect.h"
#include "passes/time/rings/matmul_blocks.h"

namespace mlir::sgd {

struct ScatteredMatmul {
  spmd::ReduceScatterOp scatter;
  FreeDim dot;

  /// Nothing where the scattered dimension is no free one of a matmul, where something else reads that, where nothing
  /// waits for it, or where sums on the way would be rounded.
  static std::optional<ScatteredMatmul> find(spmd::ReduceScatterOp scatter);

  void apply();
};

}  // namespace mlir::sgd

#endif
