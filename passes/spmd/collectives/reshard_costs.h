// Costs of reshards between typed values, remembered per pair of types.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_RESHARD_COSTS_H
#define SGD_PASSES_SPMD_COLLECTIVES_RESHARD_COSTS_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/sharding/reshard/reshard_planner.h"

namespace mlir::sgd {

/// Bytes first: communication is what the placement of reductions is about; seconds decide between equals.
struct ReshardCost {
  uint64_t sentBytes = 0;
  double seconds = 0;

  bool operator<(const ReshardCost& other) const {
    return std::tie(sentBytes, seconds) < std::tie(other.sentBytes, other.seconds);
  }
  ReshardCost& operator+=(const ReshardCost& other) {
    sentBytes += other.sentBytes;
    seconds += other.seconds;
    return *this;
  }
};

class ReshardCosts {
 public:
  /// `cost` outlives the object.
  ReshardCosts(MeshAttr mesh, const CostModel& cost) : mesh(mesh), planner(cost) {}

  /// Types of equal shape with shardings. Nothing when there is no plan (a dimension that does not divide).
  std::optional<ReshardCost> get(RankedTensorType from, RankedTensorType to);

 private:
  MeshAttr mesh;
  ReshardPlanner planner;
  DenseMap<std::pair<Type, Type>, std::optional<ReshardCost>> known;
};

}  // namespace mlir::sgd

#endif
