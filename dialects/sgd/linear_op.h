// Linear ops, and ops that only move elements.
#ifndef SGD_DIALECTS_SGD_LINEAR_OP_H
#define SGD_DIALECTS_SGD_LINEAR_OP_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::sgd {

enum class ReduceKind : uint32_t;

/// How an op f of an operand x meets a combination r of values x1, x2, ... (a ReduceKind: addition, maximum, ...).
enum class Linearity : uint8_t {
  None,      ///< not, or not known to: f(r(x1, x2)) may differ from r(f(x1), f(x2))
  Alone,     ///< f(r(x1, x2)) = r(f(x1), f(x2)) whatever the other operands are: -x, x * c, a transpose
  Together,  ///< f(r(x1, x2), r(y1, y2)) = r(f(x1, y1), f(x2, y2)) over all operands that are Together: x + y
};

/// Each element of the result is one of an operand's, at a place that is known when compiling: transposes, slices,
/// concatenations, ... Nothing is computed.
template <typename ConcreteType>
class MovesElements : public OpTrait::TraitBase<ConcreteType, MovesElements> {};

/// Whether `op` moves the elements of its only operand and has each of them once: it permutes them, or gives the tensor
/// another shape.
bool keepsAllElements(Operation* op);
/// Whether `op` moves the elements of its only operand and may drop or repeat some.
bool movesOneTensor(Operation* op);

/// None for ops without the interface.
Linearity getLinearity(Operation* op, unsigned operand, ReduceKind kind);

/// Tells the ops of arith how they are linear.
void attachLinearModels(MLIRContext& context);

}  // namespace mlir::sgd

#include "dialects/sgd/linear_op.h.inc"

#endif
