// Regions pass reshapes group by group of dimensions that have the same elements.
#include "dialects/sgd/slice_region.h"

#include "dialects/sgd/tensor_layout.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;

bool SliceRegion::overlaps(const SliceRegion& other) const {
  for (unsigned dim = 0; dim < begins.size(); ++dim)
    if (begins[dim] >= other.ends[dim] || other.begins[dim] >= ends[dim]) return false;
  return true;
}

SmallVector<int64_t> SliceRegion::getShape() const {
  SmallVector<int64_t> shape;
  for (auto [begin, end] : llvm::zip(begins, ends)) shape.push_back(end - begin);
  return shape;
}

SliceRegion SliceRegion::within(const SliceRegion& outer) const {
  SliceRegion region = *this;
  for (auto [begin, end, offset] : llvm::zip(region.begins, region.ends, outer.begins)) {
    begin += offset;
    end += offset;
  }
  return region;
}

SliceRegion SliceRegion::relativeTo(const SliceRegion& outer) const {
  SliceRegion region = *this;
  for (auto [begin, end, offset] : llvm::zip(region.begins, region.ends, outer.begins)) {
    begin -= offset;
    end -= offset;
  }
  return region;
}

SliceRegion mlir::sgd::getWhole(ArrayRef<int64_t> shape) {
  return {SmallVector<int64_t>(shape.size(), 0), SmallVector<int64_t>(shape)};
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

ElementRange mlir::sgd::getRange(const SliceRegion& region, ArrayRef<int64_t> strides) {
  ElementRange range{0, 1};
  for (auto [begin, end, stride] : llvm::zip(region.begins, region.ends, strides)) {
    range.begin += begin * stride;
    range.end += (end - 1) * stride;
  }
  return range;
}

/// The box of a tensor of this shape that has the elements of `range`.
static std::optional<SliceRegion> getBox(ElementRange range, ArrayRef<int64_t> shape) {
  SliceRegion box = getWhole(shape);
  int64_t begin = range.begin, count = range.end - range.begin;
  for (size_t dim = shape.size(); dim-- > 0;) {
    int64_t size = shape[dim], first = begin % size;
    begin /= size;
    if (first == 0 && count % size == 0) {
      count /= size;
      continue;
    }
    if (first + count > size) return std::nullopt;
    box.begins[dim] = first;
    box.ends[dim] = first + count;
    count = 1;
  }
  return box;
}

/// The number of dimensions at the beginning of either shape that have the same elements.
static std::pair<size_t, size_t> getFirstGroup(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  size_t left = 0, right = 0;
  int64_t leftSize = 1, rightSize = 1;
  do {
    if (left < from.size() && (leftSize <= rightSize || right == to.size()))
      leftSize *= from[left++];
    else if (right < to.size())
      rightSize *= to[right++];
  } while (leftSize != rightSize);
  return {left, right};
}

std::optional<SliceRegion> mlir::sgd::getReshaped(const SliceRegion& region, ArrayRef<int64_t> from,
                                                  ArrayRef<int64_t> to) {
  if (llvm::is_contained(from, 0) || llvm::is_contained(to, 0)) return std::nullopt;
  SliceRegion reshaped;
  ArrayRef<int64_t> begins(region.begins), ends(region.ends);
  while (!from.empty() || !to.empty()) {
    auto [left, right] = getFirstGroup(from, to);
    SliceRegion part{SmallVector<int64_t>(begins.take_front(left)), SmallVector<int64_t>(ends.take_front(left))};
    ElementRange range = getRange(part, getRowMajorStrides(from.take_front(left)));
    auto box = getBox(range, to.take_front(right));
    if (range.end - range.begin != ShapedType::getNumElements(part.getShape()) || !box) return std::nullopt;
    reshaped.begins.append(box->begins);
    reshaped.ends.append(box->ends);
    from = from.drop_front(left);
    to = to.drop_front(right);
    begins = begins.drop_front(left);
    ends = ends.drop_front(left);
  }
  return reshaped;
}
