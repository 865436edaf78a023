// Whether a compiled program is as its recipe expects.
#ifndef SGD_COMPILER_EXPECTATIONS_CHECK_EXPECTATIONS_H
#define SGD_COMPILER_EXPECTATIONS_CHECK_EXPECTATIONS_H

#include "compiler/recipe/expectation.h"
#include "compiler/report/report.h"

namespace mlir::sgd {

/// Fails with one error where an expectation does not hold for the program that `report` is about, of the plan-level
/// module `plan`: it names the field, the bytes, those that are allowed, and the collectives, tensors or buffers that
/// take most of them. Axes that the mesh has not, and globs that match no tensor, are errors. Of a pipeline, the stage
/// with most bytes counts.
LogicalResult checkExpectations(ModuleOp plan, const Report& report, llvm::ArrayRef<Expectation> expectations);

}  // namespace mlir::sgd

#endif
