// Lists of ranks, as collectives of the input name them, as axes of the mesh.
#ifndef SGD_FRONTENDS_STABLEHLO_REPLICA_GROUPS_H
#define SGD_FRONTENDS_STABLEHLO_REPLICA_GROUPS_H

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd {

/// Indices of mesh axes, the one whose ranks are furthest apart in a group first.
using AxisOrder = llvm::SmallVector<unsigned, 2>;

/// Axes such that `groups`, rows of ranks of one length, are the groups of ranks that differ only on them, each in the
/// order of the linear index over the axes. Ranks are numbered row-major over axes of `sizes`. Nullopt when there are
/// none, or when the rows do not name every rank once.
std::optional<AxisOrder> findGroupAxes(llvm::ArrayRef<int64_t> sizes,
                                       llvm::ArrayRef<llvm::SmallVector<int64_t>> groups);

/// A part of an axis, as sdy's "x":(before)size: index / (n / (before * size)) % size on an axis of size n.
struct SubAxis {
  unsigned axis = 0;
  int64_t before = 1, size = 1;

  bool operator==(const SubAxis&) const = default;
};

/// As findGroupAxes, with sub-axes where whole axes do not describe the groups; neighbouring sub-axes are joined.
std::optional<llvm::SmallVector<SubAxis, 2>> findGroupSubAxes(llvm::ArrayRef<int64_t> sizes,
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
