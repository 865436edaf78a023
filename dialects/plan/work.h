// The cost of instructions, as models of CostOpInterface.
#ifndef SGD_DIALECTS_PLAN_WORK_H
#define SGD_DIALECTS_PLAN_WORK_H

#include "dialects/cost/work.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::plan {

/// Gives the instructions their models of CostOpInterface, when the dialect is loaded.
void attachWork(MLIRContext& context);

}  // namespace mlir::plan

#endif
