// Finds the cheapest way from one sharding of a tensor to another. Plain data, no IR. A dimension of n elements in k
// shards has tiles of ceil(n / k): tile i holds elements [i * tile, min((i + 1) * tile, n)), what is left of it is
// padding, which is undefined.
//
// Example: tensor<8x8xf32> on a mesh with "x" = 4, from rows over "x" to columns over "x". A rank holds 2 x 8 elements
// before and 8 x 2 after. The plan is one all-to-all: three of the four 2 x 2 blocks leave each rank, 48 bytes.
// planByGathering sends the rank's rows to three others, 192 bytes, and slices. From partial over "x" to rows over "x"
// the plan is one reduce-scatter, 192 bytes; from partial to replicated an all-reduce, 384 bytes by the ring rule.
#ifndef SGD_PASSES_SHARDING_RESHARD_RESHARD_PLANNER_H
#define SGD_PASSES_SHARDING_RESHARD_RESHARD_PLANNER_H

#include "llvm/Support/Error.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// The sharding of a tensor over the mesh. Parts in neither list are replicated.
struct ShardState {
  llvm::SmallVector<AxisParts, 4> dims;  // major to minor, per dimension
  AxisParts partial;                     // axes whose ranks hold summands; order does not matter

  bool operator==(const ShardState& other) const { return dims == other.dims && partial == other.partial; }
};

/// One local or collective operation; names and meanings are those of the `spmd` dialect.
struct ReshardStep {
  /// Axes that leave the minor end of dimension `from` and are appended to dimension `to`.
  struct Move {
    int64_t from, to;
    AxisParts axes;
  };

  /// Mask and Place make summands of what is reduced: the value on one rank of replicas, or each rank's shard where it
  /// belongs, and zeros elsewhere. Resize changes the padding of a dimension that a rank holds whole. GatherRange
  /// changes the tiles of a dimension: every rank fetches the elements that its new tile has and its old one has not.
  enum class Kind { Slice, AllGather, AllToAll, Permute, ReduceScatter, AllReduce, Mask, Place, Resize, GatherRange };
  Kind kind;
  int64_t dim = 0;         // all but AllReduce, Permute and Mask: the dimension; AllToAll: the one that is split
  int64_t concat = 0;      // AllToAll: the dimension along which parts are joined
  AxisParts axes;          // the group; Permute, GatherRange: the order after it; Mask: coordinate 0 keeps the value
  AxisParts fromAxes;      // Permute, GatherRange: the order before it
  int64_t size = 0;        // Resize, GatherRange: elements of the dimension on a rank after it
  uint64_t sentBytes = 0;  // per rank, ring rule
  double seconds = 0;
  /// AllToAll of several dimensions at once, instead of `dim` and `concat`; `axes` are those of all moves in order. No
  /// dimension both gives and receives; one that receives several does so in this order.
  llvm::SmallVector<Move, 0> moves = {};
};

struct ReshardPlan {
  llvm::SmallVector<ReshardStep, 4> steps;
  uint64_t sentBytes = 0;
  double seconds = 0;
  /// Every rank holds the whole tensor in between, although it does neither before nor after: there was no other way.
  bool materialises = false;
};

class ReshardPlanner {
 public:
  explicit ReshardPlanner(const CostModel& cost) : cost(cost) {}

  /// The fastest plan by the cost model (Dijkstra over states; moves: slice, mask, place, all-gather, all-to-all,
  /// permute, reduce-scatter, all-reduce, on parts of axes too; of reductions over several axes, which are those of
  /// gradients and travel in buckets, only a part of the start counts; where sizes do not divide also resize and
  /// gather-range) that does not hold the whole tensor unless `from` or `to` does or nothing else is possible. `shape`
  /// is global, `elementBytes` the size of one element. Partial axes of both states must be of one reduction kind.
  /// Errors: parts that overlap.
  llvm::Expected<ReshardPlan> plan(llvm::ArrayRef<int64_t> shape, uint64_t elementBytes, const ShardState& from,
                                   const ShardState& to) const;

  /// The obvious plan, for comparison and where a search is out of reach: reduce, gather what differs, slice.
  ReshardPlan planByGathering(llvm::ArrayRef<int64_t> shape, uint64_t elementBytes, const ShardState& from,
                              const ShardState& to) const;

 private:
  std::optional<ReshardPlan> planOnAtoms(llvm::ArrayRef<int64_t> shape, uint64_t elementBytes, const ShardState& from,
                                         const ShardState& to, bool mayMaterialise) const;
  std::optional<ReshardPlan> planBetweenBases(llvm::ArrayRef<int64_t> shape, uint64_t elementBytes,
                                              const ShardState& from, const ShardState& to, bool mayMaterialise) const;

  const CostModel& cost;
};

/// "all_gather", "shard_slice", ...
llvm::StringRef getStepName(ReshardStep::Kind kind);

}  // namespace mlir::sgd

#endif
