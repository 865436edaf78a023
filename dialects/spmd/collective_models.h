// External models of collectives, attached when the dialect is loaded.
#ifndef SGD_DIALECTS_SPMD_COLLECTIVE_MODELS_H
#define SGD_DIALECTS_SPMD_COLLECTIVE_MODELS_H

#include "mlir/IR/MLIRContext.h"

namespace mlir::spmd {

/// Gives the collective ops their models of CollectiveOpInterface.
void attachCollectiveModels(MLIRContext& context);

}  // namespace mlir::spmd

#endif
