// The memory of micro-batches beside that of the whole batch.
#ifndef SGD_COMPILER_SPLIT_MEMORY_H
#define SGD_COMPILER_SPLIT_MEMORY_H

#include "compiler/recipe/plan_options.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Warns if the whole batch needs less memory than `plan`, whose batch is cut and whose peak, constants included, is
/// `peak` bytes. Says nothing where sgd-record-unsplit-peak has noted nothing.
void warnOfLargerSplit(ModuleOp plan, uint64_t peak, uint64_t constantBytes, const PlanOptions& options);

}  // namespace mlir::sgd

#endif
