// The program that takes a step: loss, gradients, and updates of parameters.
#ifndef SGD_PASSES_GRAPH_TRAINING_TRAIN_PROGRAM_H
#define SGD_PASSES_GRAPH_TRAINING_TRAIN_PROGRAM_H

#include "passes/graph/training/model.h"
#include "passes/graph/training/stacked_arguments.h"

namespace mlir::sgd {

/// Turns a clone of the forward function into the train step. Returns the stacks that parameters are in. Fails with a
/// diagnostic at an op without a derivative, and where the loss depends on no parameter.
FailureOr<SmallVector<ParameterStack>> writeTrain(func::FuncOp function, const Model& model,
                                                  const TrainingSettings& settings);

}  // namespace mlir::sgd

#endif
