// A check that strided operands of library calls share.
#ifndef SGD_DIALECTS_PLAN_VERIFY_REACH_H
#define SGD_DIALECTS_PLAN_VERIFY_REACH_H

#include "mlir/IR/Operation.h"

namespace mlir::plan {

/// Succeeds if the largest element that `strides` reach over `sizes` is inside `buffer`, which the error calls `name`.
LogicalResult verifyReach(Operation* op, StringRef name, Value buffer, ArrayRef<int64_t> sizes,
                          ArrayRef<int64_t> strides);

}  // namespace mlir::plan

#endif
