// The form that a reduction is compressed to: what it gives, what state it keeps, and what its ranks send.
#ifndef SGD_PASSES_SPMD_COMPRESS_COMPRESSED_BYTES_H
#define SGD_PASSES_SPMD_COMPRESS_COMPRESSED_BYTES_H

#include "passes/cost/cost_model.h"
#include "passes/sharding/reshard/reshard_planner.h"
#include "passes/spmd/compress/compression_settings.h"

namespace mlir::sgd {

struct CompressedForm {
  struct State {
    std::string name;  ///< "error"
    RankedTensorType type;
  };

  CompressionKind kind = CompressionKind::BF16;
  int64_t size = 0;         ///< as sgd.compressed_reduction has it
  RankedTensorType result;  ///< which the reduced value is resharded from, where it is another one
  SmallVector<State, 2> states;
  uint64_t sentBytes = 0;   ///< by each rank
  uint64_t wholeBytes = 0;  ///< that the reduction sends as it is
};

class CompressedBytes {
 public:
  /// `mesh` and `cost` outlive the object.
  CompressedBytes(const MeshAxes& mesh, const CostModel& cost) : mesh(mesh), cost(cost), planner(cost) {}

  /// The most bytes that the group of `reduction` sends together: `limit`, or by the cost model where that is 0.
  uint64_t getBucketBytes(ReshardOp reduction, uint64_t limit) const;

  /// For the reduction of a value of type `from`, which is partial, to `to`. Fails with `why` where it does not save
  /// anything.
  FailureOr<CompressedForm> choose(const CompressionSetting& setting, RankedTensorType from, RankedTensorType to,
                                   std::string& why) const;

 private:
  std::optional<uint64_t> getReshardBytes(RankedTensorType from, RankedTensorType to) const;
  std::string chooseRounded(CompressedForm& form, RankedTensorType from) const;
  std::string chooseBlocks(CompressedForm& form, RankedTensorType from, int64_t mostBlock) const;
  std::string chooseFactors(CompressedForm& form, RankedTensorType from, int64_t rank) const;
  std::string chooseLargest(CompressedForm& form, RankedTensorType from, double share) const;
  std::string setWhole(CompressedForm& form, RankedTensorType from) const;
  std::string setResult(CompressedForm& form, RankedTensorType from) const;
  RankedTensorType getErrorType(RankedTensorType from) const;
  RankedTensorType getFactorType(RankedTensorType from, int64_t columns, int64_t rank) const;

  const MeshAxes& mesh;
  const CostModel& cost;
  ReshardPlanner planner;
};

}  // namespace mlir::sgd

#endif
