// Roles by dependence on the loss: names of parameters and of optimizers' state are anything.
#include "compiler/recipe/roles.h"

#include "passes/carry/carry_attrs.h"
#include "passes/carry/links.h"
#include "passes/carry/loss.h"

using namespace mlir;
using namespace mlir::sgd;

Roles mlir::sgd::findRoles(func::FuncOp function) {
  Roles roles;
  roles.arguments.assign(function.getNumArguments(), Role::Input);
  std::optional<unsigned> loss = findLoss(function);
  roles.hasLoss = loss.has_value();
  Links links(function);
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (std::optional<unsigned> argument = getCarriedArgument(function, result))
      roles.arguments[*argument] = !loss || links.depends(*loss, *argument) ? Role::Parameter : Role::OptimizerState;
  return roles;
}
