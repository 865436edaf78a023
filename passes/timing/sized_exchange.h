// The exchange of a collective in the terms of the cost model.
#ifndef SGD_PASSES_TIMING_SIZED_EXCHANGE_H
#define SGD_PASSES_TIMING_SIZED_EXCHANGE_H

#include "dialects/cost/cost_op.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

struct SizedExchange {
  CollectiveKind kind;
  AxisParts group;
  /// The bytes of a rank, as runtime/comm/collectives/sent_bytes.h counts them; for gathered ranges, those of the
  /// busiest rank.
  uint64_t bytes = 0;

  uint64_t getSentBytes() const { return CostModel::getSentBytes(kind, group, bytes); }
  double getSeconds(const CostModel& cost) const { return cost.getCollectiveSeconds(kind, group, bytes); }
};

/// The exchange of a collective of any level. Its mesh is in the module, or given.
SizedExchange getSizedExchange(Operation* collective);
SizedExchange getSizedExchange(const Exchange& exchange, MeshAttr mesh);

}  // namespace mlir::sgd

#endif
