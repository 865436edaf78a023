// Adds a loss, and metrics, to a forward function.
#ifndef SGD_PASSES_GRAPH_TRAINING_LOSS_WRITER_H
#define SGD_PASSES_GRAPH_TRAINING_LOSS_WRITER_H

#include "passes/graph/training/model.h"

namespace mlir::sgd {

/// Adds the results `loss`, `accuracy`, .. and returns the position of the loss. With LossKind::Output the loss is
/// there already, at `loss`.
FailureOr<unsigned> writeLoss(func::FuncOp function, const TrainingSettings& settings, std::optional<unsigned> loss);

}  // namespace mlir::sgd

#endif
