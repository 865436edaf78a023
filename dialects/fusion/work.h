// The cost of kernels and library calls; the epilogue is shared with their forms in the plan.
#ifndef SGD_DIALECTS_FUSION_WORK_H
#define SGD_DIALECTS_FUSION_WORK_H

#include "dialects/cost/work.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/library/epilogue.h"

namespace mlir::fusion {

/// Adds the operations of an epilogue over `elements` of a result.
void addEpilogue(mlir::sgd::Work& work, const ::sgd::library::Epilogue& epilogue, double elements);

/// Gives the ops of the dialect their models of CostOpInterface, when it is loaded.
void attachWork(MLIRContext& context);

}  // namespace mlir::fusion

#endif
