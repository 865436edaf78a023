// Chains of updates are followed from the last one back.
#include "compiler/bound/stacked_slices.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;

bool SliceRegion::overlaps(const SliceRegion& other) const {
  for (unsigned dim = 0; dim < begins.size(); ++dim)
    if (begins[dim] >= other.ends[dim] || other.begins[dim] >= ends[dim]) return false;
  return true;
}

std::optional<SliceRegion> mlir::sgd::getRegion(SliceOp slice) {
  if (llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride != 1; })) return std::nullopt;
  return SliceRegion{SmallVector<int64_t>(slice.getStarts()), SmallVector<int64_t>(slice.getLimits())};
}

std::optional<SliceRegion> mlir::sgd::getRegion(DynamicUpdateSliceOp update) {
  SliceRegion region;
  auto shape = cast<RankedTensorType>(update.getInput().getType()).getShape();
  auto size = cast<RankedTensorType>(update.getUpdate().getType()).getShape();
  for (auto [dim, start] : llvm::enumerate(update.getStarts())) {
    DenseElementsAttr constant;
    if (!matchPattern(start, m_Constant(&constant)) || !constant.getElementType().isInteger()) return std::nullopt;
    // Places that do not fit are moved until they do.
    int64_t begin = constant.getValues<APInt>()[0].getSExtValue();
    region.begins.push_back(std::clamp<int64_t>(begin, 0, shape[dim] - size[dim]));
    region.ends.push_back(region.begins.back() + size[dim]);
  }
  return region;
}

static Value skipReshards(Value value) {
  while (auto reshard = value.getDefiningOp<ReshardOp>()) value = reshard.getInput();
  return value;
}

Value mlir::sgd::getSliced(SliceOp slice) {
  std::optional<SliceRegion> wanted = getRegion(slice);
  if (!wanted) return {};
  Value value = skipReshards(slice.getInput());
  while (auto update = value.getDefiningOp<DynamicUpdateSliceOp>()) {
    std::optional<SliceRegion> region = getRegion(update);
    if (region == wanted) return update.getUpdate();
    if (!region || region->overlaps(*wanted)) return {};
    value = skipReshards(update.getInput());
  }
  return value;
}

SmallVector<DynamicUpdateSliceOp> mlir::sgd::getUpdates(Value stack) {
  SmallVector<DynamicUpdateSliceOp> updates;
  SmallVector<SliceRegion> regions;
  for (Value value = skipReshards(stack); auto update = value.getDefiningOp<DynamicUpdateSliceOp>();
       value = skipReshards(update.getInput())) {
    std::optional<SliceRegion> region = getRegion(update);
    if (!region) break;
    auto hides = [&](const SliceRegion& later) { return later.overlaps(*region); };
    if (llvm::none_of(regions, hides)) updates.push_back(update);
    regions.push_back(*region);
  }
  return updates;
}
