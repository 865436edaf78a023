// The decision of sgd-shard-updates about one update, while it is made.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_UPDATE_DECISION_H
#define SGD_PASSES_SPMD_COLLECTIVES_UPDATE_DECISION_H

#include <string>
#include <vector>

#include "dialects/sgd/decision.h"

namespace mlir::sgd {

struct UpdateDecision {
  ShardingAttr sharding;              ///< of the shards that ranks update; null when they do not
  std::vector<std::string> gathered;  ///< results that are whole on every rank
  std::vector<std::string> kept;      ///< results that stay shards until the next step
  double savedSeconds = 0;            ///< by the cost model
  std::string why;                    ///< it is not sharded; empty when it is

  /// The record for reports, with the reason in words; the reduction is at `loc`.
  Decision toDecision(Location loc) const;
};

}  // namespace mlir::sgd

#endif
