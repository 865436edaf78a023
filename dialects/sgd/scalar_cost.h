// How long a scalar takes to compute, as far as the choice of kernels needs to know.
#ifndef SGD_DIALECTS_SGD_SCALAR_COST_H
#define SGD_DIALECTS_SGD_SCALAR_COST_H

#include "mlir/IR/Operation.h"

namespace mlir::sgd {

enum class ScalarCost : uint8_t {
  Instruction,  ///< one of a few cycles: additions, comparisons, roundings
  Division,     ///< one of many cycles: quotients, remainders and square roots of floats
  Function,     ///< many: exponentials and the like
};

/// Returns the cost of an elementwise op for each element.
ScalarCost getScalarCost(Operation* op);

}  // namespace mlir::sgd

#endif
