// A contraction as matmul instructions.
#ifndef SGD_PASSES_MEMORY_CONTRACT_TO_PLAN_H
#define SGD_PASSES_MEMORY_CONTRACT_TO_PLAN_H

#include "dialects/plan/plan_dialect.h"

namespace mlir::sgd {

/// One plan.matmul into `result`, or several that accumulate. Fails with an error on the op when its labels have no
/// strided form.
LogicalResult createMatmuls(OpBuilder& builder, ContractOp contract, Value lhs, Value rhs, Value result);

}  // namespace mlir::sgd

#endif
