// The collectives of compressed reductions, over one group, with their explanations.
#ifndef SGD_PASSES_SPMD_COMPRESS_GROUP_EXCHANGE_H
#define SGD_PASSES_SPMD_COMPRESS_GROUP_EXCHANGE_H

#include "dialects/sgd/compression.h"
#include "passes/graph/expressions/tensor_math.h"
#include "passes/spmd/partition/local_rules.h"

namespace mlir::sgd {

class GroupExchange {
 public:
  /// Exchanges one input of a compressed reduction, whose collectives are `steps`. `emitter` outlives the object.
  GroupExchange(TensorMath& math, CompressedReductionOp op, const LocalisedOp& localised, unsigned input,
                ReshardEmitter& emitter, int64_t steps);

  /// Ranks of the group.
  int64_t getSize() const { return getGroupSize(axes); }
  /// This rank's position in the group, an i32.
  Value getPosition() { return emitter.getPartitionId(math.getLoc(), axes); }

  /// Row r of dimension 0 goes to rank r, which has the rows of all ranks in order: an all-to-all, in the form that
  /// joins others in a bucket.
  Value exchangeRows(Value value);
  /// The values of all ranks along dimension 0.
  Value gather(Value value);
  /// The sum over all ranks.
  Value addUp(Value value);

 private:
  void explain(Operation* collective, CollectiveKind kind, uint64_t held);

  TensorMath& math;
  ReshardEmitter& emitter;
  AxisParts axes;
  Decision decision;
};

}  // namespace mlir::sgd

#endif
