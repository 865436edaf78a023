// The decision of sgd-shard-attention about one attention, while it is made.
#ifndef SGD_PASSES_SHARDING_CONTEXT_CONTEXT_DECISION_H
#define SGD_PASSES_SHARDING_CONTEXT_CONTEXT_DECISION_H

#include <string>
#include <vector>

#include "dialects/sgd/decision.h"
#include "passes/sharding/context/context_form.h"

namespace mlir::sgd {

/// StringAttr on `sgd.mesh`: the form that all attention gets whose positions are sharded, instead of by cost.
inline constexpr llvm::StringLiteral kAttentionAttr = "sgd.attention";

/// One form: its estimated time, or why it cannot be.
struct FormEstimate {
  ContextForm form = ContextForm::Gathered;
  double seconds = 0;
  std::string why;  ///< it cannot be; empty when it can
};

struct ContextDecision {
  int64_t ranks = 0;
  ContextForm form = ContextForm::Gathered;
  bool isAskedFor = false;  ///< by a recipe, not by cost
  std::string why;          ///< it can only be gathered; empty where there was a choice
  std::vector<FormEstimate> estimates;

  /// The record for reports; the softmax is at `loc`.
  Decision toDecision(Location loc) const;

  /// "over 4 ranks, blocks of keys and values go from rank to rank ...", for people.
  std::string getText() const;
};

}  // namespace mlir::sgd

#endif
