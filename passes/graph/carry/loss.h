// The loss of a step, where nobody names it: the scalar that training makes smaller.
#ifndef SGD_PASSES_GRAPH_CARRY_LOSS_H
#define SGD_PASSES_GRAPH_CARRY_LOSS_H

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// The result of `function`, whose carried results are decided, that is its loss: a floating-point scalar that is not
/// carried and has no role. Those whose gradient may update the state come first, see TrainedScalars. Of several, the
/// one whose name is `loss` or begins with it, else the likeliest, else the first whose name has `loss` in it, else the
/// first.
std::optional<unsigned> inferLoss(func::FuncOp function);

}  // namespace mlir::sgd

#endif
