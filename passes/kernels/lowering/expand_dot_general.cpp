// dot_general by its definition.
#include "passes/kernels/lowering/expand_dot_general.h"

#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

/// `operand`, whose dimension i is dimension `dims[i]` of `type`, repeated along the others.
static Value repeat(OpBuilder& builder, Location loc, Value operand, RankedTensorType type, ArrayRef<int64_t> dims) {
  return BroadcastInDimOp::create(builder, loc, type, operand, dims);
}

void mlir::sgd::expandDotGeneral(DotGeneralOp dot) {
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  RankedTensorType lhs = tensorType(dot.getLhs()), rhs = tensorType(dot.getRhs()), result = dot.getType();
  SmallVector<int64_t> shape(result.getShape()), contracted;
  for (int64_t dim : dot.getLhsContracting()) {
    contracted.push_back(shape.size());
    shape.push_back(lhs.getDimSize(dim));
  }
  SmallVector<int64_t> lhsDims(lhs.getRank()), rhsDims(rhs.getRank());
  int64_t next = 0;
  for (auto [l, r] : llvm::zip_equal(dot.getLhsBatching(), dot.getRhsBatching())) lhsDims[l] = rhsDims[r] = next++;
  for (int64_t dim : dot.getLhsFree()) lhsDims[dim] = next++;
  for (int64_t dim : dot.getRhsFree()) rhsDims[dim] = next++;
  for (auto [l, r] : llvm::zip_equal(dot.getLhsContracting(), dot.getRhsContracting()))
    lhsDims[l] = rhsDims[r] = next++;
  RankedTensorType wide = RankedTensorType::get(shape, result.getElementType());
  Value sum = arith::MulIOp::create(builder, loc, repeat(builder, loc, dot.getLhs(), wide, lhsDims),
                                    repeat(builder, loc, dot.getRhs(), wide, rhsDims));
  if (!contracted.empty()) sum = ReduceOp::create(builder, loc, result, sum, ReduceKind::Add, contracted);
  dot.replaceAllUsesWith(sum);
  dot.erase();
}
