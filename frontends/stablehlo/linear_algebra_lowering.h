// Decompositions and solvers among the lowerings.
#ifndef SGD_FRONTENDS_STABLEHLO_LINEAR_ALGEBRA_LOWERING_H
#define SGD_FRONTENDS_STABLEHLO_LINEAR_ALGEBRA_LOWERING_H

#include "frontends/stablehlo/op_lowering.h"

namespace mlir::sgd {

void addLinearAlgebraLowerings(LoweringTable& table);

/// Whether a custom call is of a library for linear algebra, supported or not.
bool isLinearAlgebraCall(StringRef target);
LogicalResult lowerLinearAlgebraCall(OpLowering& l);

}  // namespace mlir::sgd

#endif
