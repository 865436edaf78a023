// The attribute of the result that decides, and the select that follows from it.
#include "dialects/sgd/commit.h"

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/Sequence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

std::optional<unsigned> mlir::sgd::getCommit(FunctionOpInterface function) {
  for (unsigned result : llvm::seq(function.getNumResults()))
    if (function.getResultAttr(result, kCommitAttr)) return result;
  return std::nullopt;
}

bool mlir::sgd::isCommitType(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);  // a tensor, or the buffer that it has become
  return shaped && shaped.hasRank() && shaped.getRank() == 0 && shaped.getElementType().isInteger(1);
}

LogicalResult mlir::sgd::verifyCommitAttribute(FunctionOpInterface function, unsigned result, Attribute attribute) {
  if (!isa<UnitAttr>(attribute)) return function.emitOpError() << "'" << kCommitAttr << "' expects unit";
  if (!isCommitType(function.getResultTypes()[result]))
    return function.emitOpError() << "result " << result << " decides about the commit and is "
                                  << function.getResultTypes()[result] << "; expected a scalar i1";
  for (unsigned other : llvm::seq(result))
    if (function.getResultAttr(other, kCommitAttr))
      return function.emitOpError() << "results " << other << " and " << result
                                    << " decide about the commit; expected one";
  return success();
}

Value mlir::sgd::selectCommitted(OpBuilder& builder, Location loc, Value commit, Value next, Value last) {
  RankedTensorType type = tensorType(next);
  Value condition = commit;
  if (type.getRank() > 0)
    condition = BroadcastInDimOp::create(builder, loc, type.clone(builder.getI1Type()), commit, ArrayRef<int64_t>{});
  return arith::SelectOp::create(builder, loc, condition, next, last);
}
