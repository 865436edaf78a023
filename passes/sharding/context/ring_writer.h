// Replaces attention by loops over the blocks of keys and values that come along a ring of ranks.
#ifndef SGD_PASSES_SHARDING_CONTEXT_RING_WRITER_H
#define SGD_PASSES_SHARDING_CONTEXT_RING_WRITER_H

#include "passes/sharding/context/ring_step.h"

namespace mlir::sgd {

/// Whether masks and biases can be computed in blocks.
bool canComputeInRing(const AttentionPattern& pattern);

/// Writes the ring, which must be possible, and lets the readers of the pattern's results read the ring's. What
/// nothing reads then is left in the block.
void writeRing(const AttentionPattern& pattern, const ContextAxes& context);

}  // namespace mlir::sgd

#endif
