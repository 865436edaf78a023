// The decision of sgd-shard-attention about one attention, as data for reports.
#ifndef SGD_PASSES_CONTEXT_CONTEXT_DECISION_H
#define SGD_PASSES_CONTEXT_CONTEXT_DECISION_H

#include <string>
#include <vector>

#include "dialects/sgd/sgd_dialect.h"
#include "passes/context/context_form.h"

namespace mlir::sgd {

/// Discardable attribute of functions: an array with a dictionary for each attention whose positions are sharded.
inline constexpr llvm::StringLiteral kAttentionsAttr = "sgd.attentions";

/// StringAttr on `sgd.mesh`: the form that all attention gets whose positions are sharded, instead of by cost.
inline constexpr llvm::StringLiteral kAttentionAttr = "sgd.attention";

/// One form: its estimated time, or why it cannot be.
struct FormEstimate {
  ContextForm form = ContextForm::Gathered;
  double seconds = 0;
  std::string why;  ///< it cannot be; empty when it can
};

struct ContextDecision {
  std::string source;  ///< file:line:column of the softmax, or nothing
  int64_t ranks = 0;
  ContextForm form = ContextForm::Gathered;
  bool isAskedFor = false;  ///< by a recipe, not by cost
  std::string why;          ///< it can only be gathered; empty where there was a choice
  std::vector<FormEstimate> estimates;

  DictionaryAttr toAttr(MLIRContext* context) const;
  static std::optional<ContextDecision> fromAttr(Attribute attribute);

  /// "over 4 ranks, blocks of keys and values go from rank to rank ...", for people.
  std::string getText() const;
};

}  // namespace mlir::sgd

#endif
