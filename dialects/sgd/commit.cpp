// The select that follows from the decision.
#include "dialects/sgd/commit.h"

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

Value mlir::sgd::selectCommitted(OpBuilder& builder, Location loc, Value commit, Value next, Value last) {
  RankedTensorType type = tensorType(next);
  Value condition = commit;
  if (type.getRank() > 0)
    condition = BroadcastInDimOp::create(builder, loc, type.clone(builder.getI1Type()), commit, ArrayRef<int64_t>{});
  return arith::SelectOp::create(builder, loc, condition, next, last);
}
