// What the arguments of a step are for, read from what it computes.
#ifndef SGD_COMPILER_RECIPE_ROLES_H
#define SGD_COMPILER_RECIPE_ROLES_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

enum class Role {
  Parameter,       ///< carried from step to step, and the loss depends on it
  OptimizerState,  ///< carried, and the loss does not
  Input            ///< everything else: what a step is fed
};

/// By argument of `function`, whose carried results are decided. The loss is that of findLoss; without
/// one no role is known of what is carried.
struct Roles {
  SmallVector<Role> arguments;
  bool hasLoss = false;
};

Roles findRoles(func::FuncOp function);

}  // namespace mlir::sgd

#endif
