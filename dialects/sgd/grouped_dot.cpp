// The verifier of sgd.grouped_dot.
#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/tensor_type.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

#define GET_OP_CLASSES
#include "dialects/sgd/grouped_dot_ops.cpp.inc"

GroupedDotSizes::GroupedDotSizes(GroupedDotOp op) : batch(shapeOf(op.getLhs()).drop_back(2)) {
  m = shapeOf(op.getLhs()).take_back(2)[0];
  k = shapeOf(op.getLhs()).back();
  n = shapeOf(op.getResult()).back();
  groups = shapeOf(op.getGroups()).back();
}

LogicalResult GroupedDotOp::verify() {
  auto getType = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  if (getType(getLhs()).getRank() < 2 || getType(getGroups()).getRank() < 1 || getType(getResult()).getRank() < 1)
    return emitOpError(
        "has operands or a result of too few dimensions; expected a matrix of rows, a vector of groups and a "
        "result with dimensions; reshape them");
  if (getContracted() && getTransposed())
    return emitOpError("is contracted and transposed; expected at most one; drop one");
  GroupedDotSizes sizes(*this);
  auto check = [&](StringRef what, Value value, ArrayRef<int64_t> behind) -> LogicalResult {
    SmallVector<int64_t> shape(sizes.batch);
    llvm::append_range(shape, behind);
    if (getType(value).getShape() == ArrayRef<int64_t>(shape)) return success();
    return emitOpError() << what << " has the shape [" << getType(value).getShape() << "]; expected [" << shape
                         << "]; reshape it";
  };
  int64_t m = sizes.m, k = sizes.k, n = sizes.n, groups = sizes.groups;
  SmallVector<int64_t> rhs = {groups, k, n}, result = {m, n};
  if (getTransposed()) std::swap(rhs[1], rhs[2]);
  if (getContracted()) rhs = {m, n}, result = {groups, k, n};
  if (failed(check("rhs", getRhs(), rhs)) || failed(check("rows", getRows(), {m})) ||
      failed(check("groups", getGroups(), {groups})) || failed(check("the result", getResult(), result)))
    return failure();
  for (Value numbers : {getRows(), getGroups()})
    if (!getType(numbers).getElementType().isInteger(32))
      return emitOpError() << "has numbers of groups of type " << getType(numbers) << "; expected i32; convert them";
  Type lhs = getType(getLhs()).getElementType();
  if (getType(getRhs()).getElementType() != lhs || getType(getResult()).getElementType() != lhs)
    return emitOpError("mixes element types; expected one in operands and result; convert the operands");
  return success();
}
