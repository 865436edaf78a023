// The decision of sgd-shard-updates about one update, as data for reports.
#ifndef SGD_PASSES_COLLECTIVES_UPDATE_DECISION_H
#define SGD_PASSES_COLLECTIVES_UPDATE_DECISION_H

#include <optional>
#include <string>
#include <vector>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Discardable attribute of functions: an array with a dictionary for each update that was looked at.
inline constexpr llvm::StringLiteral kUpdatesAttr = "sgd.updates";
/// UnitAttr of an argument: another program of the artifact has it too, so that its sharding stays.
inline constexpr llvm::StringLiteral kPinnedAttr = "sgd.pinned";

struct UpdateDecision {
  Type tensor;                        ///< what is reduced, without its sharding
  std::string source;                 ///< file:line:column of the reduction, or nothing
  ShardingAttr from;                  ///< of the reduced gradient, when all ranks update the whole
  ShardingAttr sharding;              ///< of the shards that ranks update; null when they do not
  std::vector<std::string> gathered;  ///< results that are whole on every rank
  std::vector<std::string> kept;      ///< results that stay shards until the next step
  double savedSeconds = 0;            ///< by the cost model
  std::string why;                    ///< it is not sharded; empty when it is

  DictionaryAttr toAttr(MLIRContext* context) const;
  static std::optional<UpdateDecision> fromAttr(Attribute attribute);

  /// "every rank updates a shard of params['w'] and opt_state['w'] ...", for people.
  std::string getText() const;
};

}  // namespace mlir::sgd

#endif
