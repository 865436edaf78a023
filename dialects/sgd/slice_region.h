// Boxes of elements of a tensor, as slices and updates at fixed positions have them.
#ifndef SGD_DIALECTS_SGD_SLICE_REGION_H
#define SGD_DIALECTS_SGD_SLICE_REGION_H

#include <optional>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Begin and end per dimension.
struct SliceRegion {
  SmallVector<int64_t> begins, ends;

  bool operator==(const SliceRegion&) const = default;
  bool overlaps(const SliceRegion& other) const;
  SmallVector<int64_t> getShape() const;
  /// This region, of a slice that is `outer` of a tensor, in that tensor.
  SliceRegion within(const SliceRegion& outer) const;
  /// This region, which lies in `outer`, in the slice that is `outer`.
  SliceRegion relativeTo(const SliceRegion& outer) const;
};

/// All of a tensor of this shape.
SliceRegion getWhole(ArrayRef<int64_t> shape);

/// Returns nothing where the position is computed, or a stride is not 1.
std::optional<SliceRegion> getRegion(SliceOp slice);
std::optional<SliceRegion> getRegion(DynamicUpdateSliceOp update);

/// Elements [begin, end) in row-major order.
struct ElementRange {
  int64_t begin, end;
};

/// The smallest range that holds `region`, of a tensor whose dimensions have these strides.
ElementRange getRange(const SliceRegion& region, ArrayRef<int64_t> strides);

/// The box of a tensor of shape `to` that has the elements of `region`, of one of shape `from` with the same elements
/// in the same order; nothing where they are no box there.
std::optional<SliceRegion> getReshaped(const SliceRegion& region, ArrayRef<int64_t> from, ArrayRef<int64_t> to);

}  // namespace mlir::sgd

#endif
