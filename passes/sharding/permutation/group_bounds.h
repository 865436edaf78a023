// Comparisons of positions in sorted rows with the bounds of groups: running sums of how often each key occurs.
#ifndef SGD_PASSES_SHARDING_PERMUTATION_GROUP_BOUNDS_H
#define SGD_PASSES_SHARDING_PERMUTATION_GROUP_BOUNDS_H

#include "passes/graph/loops/loop_stacks.h"
#include "passes/sharding/permutation/index_function.h"

namespace mlir::sgd {

/// A comparison of each position m of the sorted rows, along `rowDim`, with the number of keys below g + `shift`, for
/// each group g along `groupDim`. It says whether the sorted key m, after `adjustments`, is below g + `shift`, or not.
struct GroupComparison {
  arith::CmpIOp op;
  int64_t rowDim, groupDim, shift;
  bool isBelow;
  SmallVector<Operation*> adjustments;  ///< ops with a constant that were applied to keys before they were counted
  std::optional<unsigned> pair;         ///< of loops: the second one compares, with bounds that the first one stacked
};

/// All comparisons, in the block of `sort` and in loops that read stacks of it, whose groups are those of its keys: its
/// first operand, in ascending order. Empty where a key may be negative.
SmallVector<GroupComparison> findGroupComparisons(SortOp sort, ArrayRef<LoopPair> pairs);

/// Whether `sort` orders its first operand, of signed integers, in ascending order.
bool isAscending(SortOp sort);

/// Writes `comparison` with `keys`, the sorted ones, in place of the bounds of groups. Returns the new comparison.
Value writeWithKeys(const GroupComparison& comparison, Value keys);

}  // namespace mlir::sgd

#endif
