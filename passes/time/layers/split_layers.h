// Loops over layers, ready for a pipeline.
#ifndef SGD_PASSES_TIME_LAYERS_SPLIT_LAYERS_H
#define SGD_PASSES_TIME_LAYERS_SPLIT_LAYERS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// Splits the loops over layers of `programs`, graphs of one artifact, for `numStages` virtual stages that take as
/// long: of the one that carries state, and of others that share it in the same way.
void splitLayers(ArrayRef<ModuleOp> programs, unsigned numStages, const CostModel& cost);

}  // namespace mlir::sgd

#endif
