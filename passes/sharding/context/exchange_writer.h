// Shards attention by heads, or batch entries, where its positions were: all-to-alls before and behind it.
#ifndef SGD_PASSES_SHARDING_CONTEXT_EXCHANGE_WRITER_H
#define SGD_PASSES_SHARDING_CONTEXT_EXCHANGE_WRITER_H

#include "passes/sharding/context/form_costs.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// Constrains operands and results of the attention to be sharded by position and all between them to be sharded along
/// `sharding.exchanged`, which there must be.
void writeExchange(const AttentionPattern& pattern, const ContextSharding& sharding, const MeshAxes& mesh);

}  // namespace mlir::sgd

#endif
