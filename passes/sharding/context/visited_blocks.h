// How far blocks of keys must travel in a ring: a window ends it early.
#ifndef SGD_PASSES_SHARDING_CONTEXT_VISITED_BLOCKS_H
#define SGD_PASSES_SHARDING_CONTEXT_VISITED_BLOCKS_H

#include "passes/graph/attention/attention_pattern.h"

namespace mlir::sgd {

/// Blocks of keys that a rank must see when positions are in blocks of `ranks` ranks, one after the other: its own one
/// and those of so many ranks before it. All others are known to be hidden from every row, and count for nothing.
int64_t countVisitedBlocks(const AttentionPattern& pattern, int64_t ranks);

}  // namespace mlir::sgd

#endif
