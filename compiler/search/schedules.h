// Which schedules of a pipeline there are to choose from.
#ifndef SGD_COMPILER_SEARCH_SCHEDULES_H
#define SGD_COMPILER_SEARCH_SCHEDULES_H

#include "compiler/recipe/plan_options.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// The schedules that the recipe of `programs` leaves a choice of: several, or none. Without parts of the batch all
/// schedules are one.
std::vector<std::string> getSchedulesToChoose(ArrayRef<ModuleOp> programs, const PlanOptions& options);

}  // namespace mlir::sgd

#endif
