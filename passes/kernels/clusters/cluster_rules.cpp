// Roles of ops and patterns of reductions and broadcasts. Roles follow from traits for ops that move elements or
// compute each by itself; the ladders here are for the others, and nobody but the clustering of this folder asks for
// them.
#include "passes/kernels/clusters/cluster_rules.h"

#include "dialects/sgd/scalar_cost.h"
#include "dialects/spmd/spmd_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;

/// Constants with more elements stay buffers of their own.
static constexpr int64_t kInlineConstant = 16;

int64_t mlir::sgd::getNumElements(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// Each element meets at most one update when every dimension that numbers the updates is a batching dimension.
static bool updatesMayMeet(ScatterOp op) {
  auto indices = cast<RankedTensorType>(op.getIndices().getType());
  int64_t updates = 1;
  for (auto [dim, size] : llvm::enumerate(indices.getShape()))
    if (dim != op.getIndexVectorDim() && !llvm::is_contained(op.getIndicesBatchingDims(), static_cast<int64_t>(dim)))
      updates *= size;
  return updates > 1;
}

/// Most of the operand stays as it is, and the operand has memory.
static bool isWrittenOver(DynamicUpdateSliceOp op) {
  int64_t elements = getNumElements(op.getInput()), update = getNumElements(op.getUpdate());
  return update > 0 && 2 * update <= elements && !matchPattern(op.getInput(), m_Constant());
}

int64_t mlir::sgd::getComputedElements(Operation* op) {
  bool isUpdate = getClusterRole(op) == ClusterRole::Update;
  return getNumElements(isUpdate ? Value(cast<DynamicUpdateSliceOp>(op).getUpdate()) : op->getResult(0));
}

ClusterRole mlir::sgd::getClusterRole(Operation* op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isMemoryEffectFree(op)) return ClusterRole::Outside;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape()) return ClusterRole::Outside;
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return constant.isSplat() || type.getNumElements() <= kInlineConstant ? ClusterRole::Free : ClusterRole::Outside;
  if (op->hasTrait<OpTrait::ConstantLike>()) return ClusterRole::Outside;
  if (movesOneTensor(op)) return ClusterRole::Free;
  if (op->hasTrait<MovesElements>() || op->hasTrait<OpTrait::Elementwise>()) return ClusterRole::Pointwise;
  return llvm::TypeSwitch<Operation*, ClusterRole>(op)
      .Case<IotaOp, spmd::PartitionIdOp, spmd::ShardSliceOp>([](auto) { return ClusterRole::Free; })
      .Case<DynamicSliceOp, GatherOp>([](auto) { return ClusterRole::Pointwise; })
      .Case([](DynamicUpdateSliceOp op) { return isWrittenOver(op) ? ClusterRole::Update : ClusterRole::Pointwise; })
      .Case([](ScatterOp op) { return updatesMayMeet(op) ? ClusterRole::Scatter : ClusterRole::Pointwise; })
      .Case([](ReduceOp) { return ClusterRole::Reduce; })
      .Default([](Operation*) { return ClusterRole::Outside; });
}

bool mlir::sgd::keepsIndex(Operation* op) {
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    return getNumElements(broadcast.getInput()) == getNumElements(broadcast.getResult()) &&
           getBroadcastPattern(broadcast);
  return isa<ReshapeOp>(op) || op->hasTrait<OpTrait::Elementwise>();
}

bool mlir::sgd::isExpensive(Operation* op) {
  return isa<GatherOp, ScatterOp, ConcatenateOp, DynamicUpdateSliceOp>(op) ||
         getScalarCost(op) != ScalarCost::Instruction;
}

void RowPattern::append(bool isKept, int64_t size) {
  if (size == 1) return;
  if (!runs.empty() && runs.back().first == isKept)
    runs.back().second *= size;
  else
    runs.push_back({isKept, size});
}

int64_t RowPattern::product(bool kept) const {
  int64_t result = 1;
  for (auto [isKept, size] : runs)
    if (isKept == kept) result *= size;
  return result;
}

RowPattern mlir::sgd::getReducePattern(ReduceOp op) {
  RowPattern pattern;
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(op.getInput().getType()).getShape()))
    pattern.append(!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim)), size);
  return pattern;
}

std::optional<RowPattern> mlir::sgd::getBroadcastPattern(BroadcastInDimOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType()),
       result = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<bool> kept(result.getRank(), false);
  int64_t previous = -1;
  for (auto [from, to] : llvm::enumerate(op.getDims())) {
    if (input.getDimSize(from) == 1) continue;
    if (to < previous) return std::nullopt;
    previous = to;
    kept[to] = true;
  }
  RowPattern pattern;
  for (auto [isKept, size] : llvm::zip(kept, result.getShape())) pattern.append(isKept, size);
  return pattern;
}
