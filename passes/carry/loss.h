// The loss of a step: the scalar that training makes smaller.
#ifndef SGD_PASSES_CARRY_LOSS_H
#define SGD_PASSES_CARRY_LOSS_H

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// UnitAttr of the result that is the loss. The compiler sets it when it loads a program; artifacts keep it.
inline constexpr llvm::StringLiteral kLossAttr = "sgd.loss";

bool isFloatScalar(Type type);

/// Marks `result` as the loss of `function`, and no other result.
void markLoss(func::FuncOp function, unsigned result);

/// The result of `function`, whose carried results are decided, that is its loss: a floating-point scalar that is not
/// carried. The one with kLossAttr comes first; else those whose gradient may update the state, see TrainedScalars. Of
/// several, the one whose name is `loss` or begins with it, else the likeliest, else the first whose name has `loss`
/// in it, else the first.
std::optional<unsigned> findLoss(func::FuncOp function);

}  // namespace mlir::sgd

#endif
