// The program that makes what a training starts from.
#ifndef SGD_PASSES_GRAPH_TRAINING_INIT_PROGRAM_H
#define SGD_PASSES_GRAPH_TRAINING_INIT_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Makes `init`, a clone of the model, return zeros for the state that `train` adds to the model's, and the model's
/// arguments that have an initializer as it says. Fails with a diagnostic where an initializer does not fit.
LogicalResult writeInit(func::FuncOp init, func::FuncOp train);

}  // namespace mlir::sgd

#endif
