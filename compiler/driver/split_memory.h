// The memory of micro-batches beside that of the whole batch.
#ifndef SGD_COMPILER_SPLIT_MEMORY_H
#define SGD_COMPILER_SPLIT_MEMORY_H

#include "compiler/driver/lowering.h"

namespace mlir::sgd {

/// A plan whose batch is cut over the sequential axis.
struct SplitPlan {
  uint64_t peak = 0, constantBytes = 0;
  bool isOfFlag = false;  ///< --micro, else a recipe's `sequential`
};

/// Warns if the whole batch needs less memory than `split`. `unsplit`: the programs as addShardingStage leaves them.
/// Says nothing where they cannot be planned.
void warnOfLargerSplit(Lowering unsplit, const SplitPlan& split, const LoweringContext& context);

}  // namespace mlir::sgd

#endif
