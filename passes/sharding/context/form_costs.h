// The cost of each algorithm of attention over sharded positions: matmuls, bytes sent, and bytes moved in memory.
#ifndef SGD_PASSES_SHARDING_CONTEXT_FORM_COSTS_H
#define SGD_PASSES_SHARDING_CONTEXT_FORM_COSTS_H

#include <vector>

#include "passes/cost/cost_model.h"
#include "passes/graph/attention/attention_pattern.h"
#include "passes/sharding/context/context_decision.h"

namespace mlir::sgd {

/// How an attention is sharded.
struct ContextSharding {
  AxisParts positions;               ///< axes of queries, keys and values by position
  SmallVector<AxisParts> others;     ///< by dimension of the exponentials: other axes
  SmallVector<int64_t> parts;        ///< by dimension: how many parts are computed one after the other
  std::optional<int64_t> exchanged;  ///< the dimension that all-to-all can shard instead

  int64_t getRanks() const { return getGroupSize(positions); }
  int64_t getOtherRanks() const;
};

/// The dimension of queries, keys and values, not of positions, of whose parts the axes of positions have tiles; the
/// one whose parts are largest.
std::optional<int64_t> findExchangedDim(const AttentionPattern& pattern, const ContextSharding& sharding);

/// One estimate for each form, in the order of kContextForms.
std::vector<FormEstimate> estimateForms(const AttentionPattern& pattern, const ContextSharding& sharding,
                                        const CostModel& cost);

}  // namespace mlir::sgd

#endif
