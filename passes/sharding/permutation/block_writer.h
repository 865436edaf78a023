// Ops on rows, rewritten for blocks of the rows, of which the last ones may be shorter.
#ifndef SGD_PASSES_SHARDING_PERMUTATION_BLOCK_WRITER_H
#define SGD_PASSES_SHARDING_PERMUTATION_BLOCK_WRITER_H

#include "passes/sharding/permutation/sorted_rows.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

struct RowBlocks {
  int64_t count;
  /// Axes to constrain blocks to, where `count` does not divide the rows: propagation passes them through no reshape.
  AxisParts axes;
  const MeshAxes& mesh;
};

/// Replaces `sort`, of vectors, by a sort of each of the blocks. Where these do not divide the rows, it must sort
/// integers in ascending order.
void writeBlocks(SortOp sort, const RowBlocks& blocks);

/// Replaces a gather or scatter, whose indices in each block are in the same block of the operand, by a batched one.
void writeBlocks(const RowAccess& access, const RowBlocks& blocks);

}  // namespace mlir::sgd

#endif
