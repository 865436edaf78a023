// Verifiers of the ops that order elements: sort, top_k.
#include "dialects/sgd/comparator.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::hasScalarBody(Operation* op) { return op->hasTrait<HasScalarBody>(); }

LogicalResult mlir::sgd::verifyOneShape(Operation* op) {
  if (op->getNumOperands() == 0) return op->emitOpError("has no operand; expected one or more; give it a tensor");
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (cast<RankedTensorType>(type).getShape() != shape)

      return op->emitOpError("operands and results differ in shape; expected one shape; broadcast the smaller ones");
  return success();
}

LogicalResult mlir::sgd::verifyComparator(Operation* op, Block& body, ValueRange yielded) {
  if (body.getNumArguments() != 2 * op->getNumOperands())
    return op->emitOpError() << "comparator has " << body.getNumArguments() << " arguments; expected two for each of "
                             << op->getNumOperands() << " operands; correct its block arguments";
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    Type element = cast<RankedTensorType>(op->getOperand(index / 2).getType()).getElementType();
    if (argument.getType() != element)
      return op->emitOpError() << "argument " << index << " of the comparator is " << argument.getType() << ", operand "
                               << index / 2 << " holds " << element << "; expected one type; correct the argument";
  }
  for (Operation& inner : body.without_terminator()) {
    if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner))

      return inner.emitOpError(
          "is not a scalar op, in a comparator; expected arithmetic on scalars; compute it before");
    if (llvm::any_of(inner.getResultTypes(), [](Type type) { return !type.isIntOrFloat(); }))

      return inner.emitOpError("does not give a number, in a comparator; expected one; compute it before");
  }
  if (yielded.size() != 1 || !yielded.front().getType().isInteger(1))
    return op->emitOpError("comparator does not yield one i1; expected it; compare the arguments");
  return success();
}

// StableHLO spec, sort (C1) to (C5), the dimension counted from 0.
LogicalResult SortOp::verify() {
  if (failed(verifyOneShape(*this))) return failure();
  if (getInputs().getTypes() != getResults().getTypes())
    return emitOpError("operands and results differ in number or type; expected the same types; correct the results");
  int64_t rank = cast<RankedTensorType>(getInputs()[0].getType()).getRank();
  if (static_cast<int64_t>(getDimension()) < 0 || static_cast<int64_t>(getDimension()) >= rank)
    return emitOpError() << "dimension " << static_cast<int64_t>(getDimension()) << " is not in [0, " << rank
                         << "); expected a dimension of the operands; correct it";
  Block& body = getComparator().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  return verifyComparator(*this, body, yield ? yield.getValues() : ValueRange());
}

LogicalResult TopKOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto k = static_cast<int64_t>(getK());
  if (input.getRank() == 0) return emitOpError("has a scalar operand; expected a dimension to choose from; reshape it");
  if (k < 0 || k > input.getShape().back())
    return emitOpError() << "cannot choose " << k << " of " << input.getShape().back()
                         << " elements; expected at most all; correct k";
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = k;
  for (Value result : getResults())
    if (cast<RankedTensorType>(result.getType()).getShape() != ArrayRef(shape))
      return emitOpError() << "has the result " << result.getType() << "; expected the shape [" << ArrayRef(shape)
                           << "]; correct the result's type";
  if (cast<RankedTensorType>(getValues().getType()).getElementType() != input.getElementType())
    return emitOpError("values and operand differ in element type; expected one type; correct the result");
  Type position = cast<RankedTensorType>(getPositions().getType()).getElementType();
  if (!position.isInteger(32) && !position.isInteger(64))
    return emitOpError() << "has positions of type " << position << "; expected i32 or i64; correct the result";
  return success();
}
