// From an update back to slices at its position, and from each of them forward: all paths must end in the update.
#include "passes/spmd/collectives/owned_blocks.h"

#include "dialects/sgd/placement_hints.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

/// Ops that the search from an update visits at most.
static constexpr unsigned kMaxOps = 256;

namespace {
/// The dimensions along which one rank holds an update's block, and the axes of these ranks.
struct Place {
  SmallVector<int64_t, 2> dims;
  AxisParts axes;
};
}  // namespace

/// Nothing where several ranks may hold parts of the block, or every rank has all of it.
static std::optional<Place> findPlace(DynamicUpdateSliceOp update, const MeshAxes& mesh) {
  RankedTensorType input = tensorType(update.getInput()), block = tensorType(update.getUpdate());
  Place place;
  for (auto [dim, sharding] : llvm::enumerate(getSharding(input).getDims())) {
    AxisParts axes = mesh.toParts(sharding.getAxes());
    if (axes.empty() || input.getDimSize(dim) == block.getDimSize(dim)) continue;
    if (block.getDimSize(dim) != 1) return std::nullopt;
    place.dims.push_back(dim);
    place.axes.append(axes);
  }
  return place.dims.empty() ? std::nullopt : std::optional(place);
}

/// The slice reads the block that the update writes, on the rank that holds it.
static bool readsPlace(DynamicSliceOp slice, DynamicUpdateSliceOp update, const Place& place, const MeshAxes& mesh) {
  RankedTensorType from = tensorType(slice.getInput()), to = tensorType(update.getInput());
  if (from.getRank() != to.getRank()) return false;
  for (int64_t dim : place.dims) {
    bool isSame = slice.getSizes()[dim] == 1 && from.getDimSize(dim) == to.getDimSize(dim) &&
                  slice.getStarts()[dim] == update.getStarts()[dim] &&
                  getSharding(from).getDims()[dim] == getSharding(to).getDims()[dim];
    if (!isSame) return false;
  }
  AxisParts partial = mesh.toParts(getSharding(slice.getType()).getUnreduced());
  return difference(partial, place.axes).empty() && difference(place.axes, partial).empty();
}

/// Each rank computes what follows from `value` by itself, and nothing but the update's block is made of it.
static bool endsInUpdate(Value value, DynamicUpdateSliceOp update, const AxisParts& axes, const MeshAxes& mesh) {
  SmallVector<Value> pending{value};
  llvm::SmallPtrSet<Operation*, 16> seen;
  while (!pending.empty()) {
    for (OpOperand& use : pending.pop_back_val().getUses()) {
      Operation* op = use.getOwner();
      if (op == update && use.get() == update.getUpdate() && use.getOperandNumber() == 1) continue;
      if (!seen.insert(op).second) continue;
      bool isLocal = seen.size() <= kMaxOps && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
                     op->getBlock() == update->getBlock() && !op->hasTrait<OpTrait::IsTerminator>() &&
                     !isa<ReshardOp>(op) && op != update;
      if (!isLocal) return false;
      for (Value result : op->getResults()) {
        TensorAxes held = mesh.toTensorAxes(getSharding(result.getType()));
        bool isElsewhere = overlaps(held.unreduced, axes) ||
                           llvm::any_of(held.dims, [&](const auto& dim) { return overlaps(dim.axes, axes); });
        if (isElsewhere) return false;
        pending.push_back(result);
      }
    }
  }
  return true;
}

/// Reductions of slices that the update's block is computed from.
static SmallVector<ReshardOp> findReductions(DynamicUpdateSliceOp update) {
  SmallVector<ReshardOp> found;
  SmallVector<Value> pending{update.getUpdate()};
  llvm::SmallPtrSet<Operation*, 16> seen;
  while (!pending.empty()) {
    Operation* op = pending.pop_back_val().getDefiningOp();
    if (!op || seen.size() > kMaxOps || !seen.insert(op).second) continue;
    auto reshard = dyn_cast<ReshardOp>(op);
    if (!reshard) {
      llvm::append_range(pending, op->getOperands());
    } else if (reshard.getInput().getDefiningOp<DynamicSliceOp>() && reshard.getInput().hasOneUse()) {
      found.push_back(reshard);
    }
  }
  return found;
}

static unsigned keepWithOwners(DynamicUpdateSliceOp update, const MeshAxes& mesh) {
  std::optional<Place> place = findPlace(update, mesh);
  if (!place) return 0;
  unsigned numChanged = 0;
  for (ReshardOp reduction : findReductions(update)) {
    auto slice = reduction.getInput().getDefiningOp<DynamicSliceOp>();
    bool keepsDims = getSharding(slice.getType()).getDims() == getSharding(reduction.getType()).getDims();
    if (!keepsDims || getSharding(reduction.getType()).isPartial() || !readsPlace(slice, update, *place, mesh) ||
        !endsInUpdate(reduction, update, place->axes, mesh))
      continue;
    setHint(slice, kOwnerOnlyAttr);
    slice.getResult().setType(cast<RankedTensorType>(reduction.getType()));
    reduction.replaceAllUsesWith(slice.getResult());
    reduction.erase();
    ++numChanged;
  }
  return numChanged;
}

unsigned mlir::sgd::keepBlocksWithOwners(func::FuncOp function, const MeshAxes& mesh) {
  unsigned numChanged = 0;
  for (Block* block : getProgramBlocks(function))
    for (auto update : block->getOps<DynamicUpdateSliceOp>()) numChanged += keepWithOwners(update, mesh);
  return numChanged;
}
