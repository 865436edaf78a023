// The values that a loop adds up in an iter_arg.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_LOOP_ADDENDS_H
#define SGD_PASSES_SHARDING_PROPAGATION_LOOP_ADDENDS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// The values that an iteration of `loop` joins to iter_arg `iterArg` by `kind`, in order; empty if the loop uses the
/// iter_arg in any other way. With subtraction the sum so far may be the subtrahend.
SmallVector<OpOperand*> getLoopAddends(WhileOp loop, unsigned iterArg, ReduceKind kind);

}  // namespace mlir::sgd

#endif
