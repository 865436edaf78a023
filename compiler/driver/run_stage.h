// Stages of pipelines.h, run on the module of a compilation.
#ifndef SGD_COMPILER_RUN_STAGE_H
#define SGD_COMPILER_RUN_STAGE_H

#include "compiler/request/request.h"
#include "compiler/timings.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::sgd {

/// Runs the passes that `add` adds on `compilation`, then verifies it. Diagnostics without a location name the file of
/// their program, one of `programs`. `timings` may be null.
LogicalResult runStage(ModuleOp compilation, ArrayRef<RequestedProgram> programs, Timings* timings,
                       llvm::function_ref<void(OpPassManager&)> add);

}  // namespace mlir::sgd

#endif
