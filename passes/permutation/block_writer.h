// Ops on rows, rewritten for equal blocks of the rows.
#ifndef SGD_PASSES_PERMUTATION_BLOCK_WRITER_H
#define SGD_PASSES_PERMUTATION_BLOCK_WRITER_H

#include "passes/permutation/sorted_rows.h"

namespace mlir::sgd {

/// Replaces `sort`, of vectors, by a sort of each of `blocks` blocks.
void writeBlocks(SortOp sort, int64_t blocks);

/// Replaces a gather or scatter, whose indices in each block are in the same block of the operand, by a batched one.
void writeBlocks(const RowAccess& access, int64_t blocks);

}  // namespace mlir::sgd

#endif
