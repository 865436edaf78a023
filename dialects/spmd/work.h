// The cost of collectives and messages, as models of CostOpInterface.
#ifndef SGD_DIALECTS_SPMD_WORK_H
#define SGD_DIALECTS_SPMD_WORK_H

#include "mlir/IR/MLIRContext.h"

namespace mlir::spmd {

/// Gives the ops of the dialect their models of CostOpInterface, when it is loaded.
void attachWork(MLIRContext& context);

}  // namespace mlir::spmd

#endif
