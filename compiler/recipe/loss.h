// The loss that a recipe or a flag names.
#ifndef SGD_COMPILER_RECIPE_LOSS_H
#define SGD_COMPILER_RECIPE_LOSS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Marks the loss of each of `functions`, whose carried results are decided, with kLossAttr: the result called `name`,
/// else that of findLoss. `name` is spelled as in the program or as globs of recipes spell it; an empty one names
/// nothing. `source` is the flag or the field in errors: a name that no function has, and one of a result that is no
/// floating-point scalar or is carried.
LogicalResult markLosses(ArrayRef<func::FuncOp> functions, StringRef name, StringRef source);

}  // namespace mlir::sgd

#endif
