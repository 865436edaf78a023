// Lists of ranks, as collectives of the input name them, as axes of the mesh.
#ifndef SGD_FRONTENDS_STABLEHLO_REPLICA_GROUPS_H
#define SGD_FRONTENDS_STABLEHLO_REPLICA_GROUPS_H

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd {

/// Indices of mesh axes, the one whose ranks lie furthest apart in a group first.
using AxisOrder = llvm::SmallVector<unsigned, 2>;

/// Axes such that `groups`, rows of ranks of one length, are the groups of ranks that differ only on them, each in the
/// order of the linear index over the axes. Ranks are numbered row-major over axes of `sizes`. Nullopt when there are
/// none, or when the rows do not name every rank once.
std::optional<AxisOrder> findGroupAxes(llvm::ArrayRef<int64_t> sizes,
                                       llvm::ArrayRef<llvm::SmallVector<int64_t>> groups);

/// A part of an axis: the digit of its index behind a factor `before`, of `size` values.
struct AxisDigit {
  unsigned axis = 0;
  int64_t before = 1, size = 1;

  bool operator==(const AxisDigit&) const = default;
};

/// The same as findGroupAxes with parts of axes where whole ones do not do, neighbours joined.
std::optional<llvm::SmallVector<AxisDigit, 2>> findGroupDigits(llvm::ArrayRef<int64_t> sizes,
                                                               llvm::ArrayRef<llvm::SmallVector<int64_t>> groups);

/// Pairs of ranks [source, target, ...] that are the same pairs of linear indices over some axes for all indices over
/// the others.
struct AxisPairs {
  AxisOrder axes;  // ascending
  llvm::SmallVector<int64_t> pairs;
};
std::optional<AxisPairs> findPairAxes(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> pairs);

}  // namespace mlir::sgd

#endif
