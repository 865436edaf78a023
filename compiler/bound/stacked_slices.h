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

/// What `slice` reads: an update that has just its place, or the value at the begin of all updates, which have others.
/// Null where an update has part of its place, or one that is not known.
Value getSliced(SliceOp slice);

/// The updates of which `stack`, the result of one, consists; the later of two at one place hides the other. Ends where
/// a place is not known.
SmallVector<DynamicUpdateSliceOp> getUpdates(Value stack);

}  // namespace mlir::sgd

#endif
