// A forward model as training sees it: its loss and its parameters.
#ifndef SGD_PASSES_GRAPH_TRAINING_MODEL_H
#define SGD_PASSES_GRAPH_TRAINING_MODEL_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/training/training_settings.h"

namespace mlir::sgd {

struct Model {
  unsigned loss = 0;                 ///< a result
  SmallVector<unsigned> parameters;  ///< positions of arguments
};

/// Finds parameters and loss. A loss of a result and labels is added to the function, as are metrics, and the argument
/// of the labels where there is none.
///
/// Fails with a diagnostic if the loss is missing, ambiguous or does not fit, or if no argument is a parameter.
FailureOr<Model> readModel(func::FuncOp function, const TrainingSettings& settings);

}  // namespace mlir::sgd

#endif
