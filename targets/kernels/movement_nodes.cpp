// Values of ops whose elements lie in their operand at strides: an element of the result is one load of the operand.
#include "dialects/sgd/tensor_type.h"
#include "targets/kernels/node_builder.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

static SmallVector<int64_t> getStrides(Value value) { return getRowMajorStrides(tensorType(value).getShape()); }

/// Row-major numbers stay: reshapes, and constraints on shardings.
template <typename Op>
static FailureOr<unsigned> buildSameOrder(NodeBuilder& nodes, Op op, const IndexExpr& index, unsigned guard) {
  return nodes.build(op.getInput(), index, guard);
}

static FailureOr<unsigned> buildBroadcast(NodeBuilder& nodes, BroadcastInDimOp op, const IndexExpr& index,
                                          unsigned guard) {
  SmallVector<int64_t> strides = getStrides(op.getInput());
  SmallVector<StridedDim> dims;
  for (int64_t size : tensorType(op.getResult()).getShape()) dims.push_back({size, 0});
  for (auto [from, to] : llvm::enumerate(op.getDims()))
    if (tensorType(op.getInput()).getDimSize(from) != 1) dims[to].stride = strides[from];
  return nodes.buildStrided(op.getInput(), dims, 0, index, guard);
}

static FailureOr<unsigned> buildTranspose(NodeBuilder& nodes, TransposeOp op, const IndexExpr& index, unsigned guard) {
  SmallVector<int64_t> strides = getStrides(op.getInput());
  SmallVector<StridedDim> dims;
  for (int64_t dim : op.getPermutation()) dims.push_back({tensorType(op.getInput()).getDimSize(dim), strides[dim]});
  return nodes.buildStrided(op.getInput(), dims, 0, index, guard);
}

static FailureOr<unsigned> buildSlice(NodeBuilder& nodes, SliceOp op, const IndexExpr& index, unsigned guard) {
  SmallVector<int64_t> strides = getStrides(op.getInput());
  SmallVector<StridedDim> dims;
  int64_t offset = 0;
  for (auto [dim, size] : llvm::enumerate(tensorType(op.getResult()).getShape())) {
    dims.push_back({size, strides[dim] * op.getStrides()[dim]});
    offset += strides[dim] * op.getStarts()[dim];
  }
  return nodes.buildStrided(op.getInput(), dims, offset, index, guard);
}

static FailureOr<unsigned> buildReverse(NodeBuilder& nodes, ReverseOp op, const IndexExpr& index, unsigned guard) {
  SmallVector<StridedDim> dims;
  int64_t offset = 0;
  for (auto [size, stride] : llvm::zip(tensorType(op.getInput()).getShape(), getStrides(op.getInput())))
    dims.push_back({size, stride});
  for (int64_t dim : op.getDimensions()) {
    offset += (dims[dim].size - 1) * dims[dim].stride;
    dims[dim].stride = -dims[dim].stride;
  }
  return nodes.buildStrided(op.getInput(), dims, offset, index, guard);
}

void NodeBuilder::addMovementRules(NodeRules& rules) {
  addRule<ReshapeOp, buildSameOrder<ReshapeOp>>(rules);
  addRule<ShardingConstraintOp, buildSameOrder<ShardingConstraintOp>>(rules);
  addRule<BroadcastInDimOp, buildBroadcast>(rules);
  addRule<TransposeOp, buildTranspose>(rules);
  addRule<SliceOp, buildSlice>(rules);
  addRule<ReverseOp, buildReverse>(rules);
}
