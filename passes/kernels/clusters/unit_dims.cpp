// Elements are row-major, so the order of dimensions of one element does not matter, and their reduction is the
// element.
#include "passes/kernels/clusters/unit_dims.h"

#include "dialects/spmd/collective.h"

using namespace mlir;
using namespace mlir::sgd;

/// The dimensions of more than one element, in the order of `dims`, ascend.
static bool keepsOrder(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (type.getDimSize(dim) == 1) continue;
    if (dim < last) return false;
    last = dim;
  }
  return true;
}

static bool leavesElements(Operation* op) {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return keepsOrder(cast<RankedTensorType>(transpose.getInput().getType()), transpose.getPermutation());
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    auto type = cast<RankedTensorType>(reduce.getInput().getType());
    return llvm::all_of(reduce.getDimensions(), [&](int64_t dim) { return type.getDimSize(dim) == 1; });
  }
  auto broadcast = dyn_cast<BroadcastInDimOp>(op);
  if (!broadcast) return false;
  auto from = cast<RankedTensorType>(broadcast.getInput().getType()), to = cast<RankedTensorType>(broadcast.getType());
  return from.getNumElements() == to.getNumElements() && keepsOrder(to, broadcast.getDims());
}

/// Whether `value` is in memory whatever reads it: an argument, or the result of a loop, branch or collective. Other
/// values may be computed where they are read.
static bool isHeld(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) value = reshape.getInput();
  Operation* op = value.getDefiningOp();
  return !op || isControlFlow(op) || isa<spmd::CollectiveOpInterface>(op);
}

void mlir::sgd::replaceByReshapes(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(block)) {
    if (!leavesElements(&op) || !isHeld(op.getOperand(0))) continue;
    OpBuilder builder(&op);
    Value reshape = ReshapeOp::create(builder, op.getLoc(), op.getResult(0).getType(), op.getOperand(0));
    op.getResult(0).replaceAllUsesWith(reshape);
    op.erase();
  }
}
