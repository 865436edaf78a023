// State that programs of one artifact share, paired by paths as the runtime pairs it.
#ifndef SGD_PASSES_TIME_STAGES_SHARED_STATE_H
#define SGD_PASSES_TIME_STAGES_SHARED_STATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

struct SharedState {
  SmallVector<std::pair<unsigned, unsigned>> arguments;  ///< of the step and of the other program
  SmallVector<std::pair<unsigned, unsigned>> results;    ///< of the other program, and the step's arguments
};

/// The state that `other` reads, and the state that it makes for `step`. Rows of a stacked tensor pair with equal rows.
SharedState findSharedState(func::FuncOp step, func::FuncOp other);

}  // namespace mlir::sgd

#endif
