// Slices and updates at fixed places, as unrolled loops leave them of stacked values: which update a slice reads, and
// which updates are left of a stack.
#ifndef SGD_COMPILER_STACKED_SLICES_H
#define SGD_COMPILER_STACKED_SLICES_H

#include <optional>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Begin and end per dimension.
struct SliceRegion {
  SmallVector<int64_t> begins, ends;

  bool operator==(const SliceRegion&) const = default;
  bool overlaps(const SliceRegion& other) const;
};

/// Nothing where the place is computed, or a stride is not 1.
std::optional<SliceRegion> getRegion(SliceOp slice);
std::optional<SliceRegion> getRegion(DynamicUpdateSliceOp update);

/// The value that `slice` reads: an update at exactly its position, or the value before all updates, where these have
/// other positions. Null where an update overlaps it in part, or one's position is not known.
Value getSliced(SliceOp slice);

/// The updates that `stack`, the result of one, consists of; the later of two at one position hides the other. Ends
/// where a position is not known.
SmallVector<DynamicUpdateSliceOp> getUpdates(Value stack);

}  // namespace mlir::sgd

#endif
