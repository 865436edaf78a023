// Executes reshard plans on integer tensors, all ranks in one process, by the meaning of the steps rather than by the
// planner's code.
#ifndef SGD_TESTS_PASSES_SHARDING_RESHARD_RESHARD_SIMULATOR_H
#define SGD_TESTS_PASSES_SHARDING_RESHARD_RESHARD_SIMULATOR_H

#include <string>
#include <vector>

#include "passes/sharding/reshard/reshard_planner.h"

namespace mlir::sgd::test {

/// A rank's tensor: row-major values.
struct LocalTensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> values;
};

class ReshardSimulator {
 public:
  ReshardSimulator(MeshSizes mesh, std::vector<int64_t> shape) : mesh(std::move(mesh)), shape(std::move(shape)) {}

  /// Distributes a tensor of distinct values by `from`, with poisoned padding, runs the plan, and compares with `to`.
  /// Empty when all ranks are right and none held the whole tensor on the way, unless one side does or the plan says
  /// so.
  std::string check(const ReshardPlan& plan, const ShardState& from, const ShardState& to) const;

 private:
  int64_t getRanks() const;
  int64_t getIndex(int64_t rank, llvm::ArrayRef<AxisPart> parts) const;
  /// Ranks that differ from `rank` only on `parts`, by linear index over them.
  std::vector<int64_t> getGroup(int64_t rank, llvm::ArrayRef<AxisPart> parts) const;
  LocalTensor getBlock(int64_t rank, const ShardState& state) const;
  LocalTensor gatherRange(const ReshardStep& step, int64_t rank, const std::vector<LocalTensor>& before) const;
  void run(const ReshardStep& step, std::vector<LocalTensor>& ranks) const;
  void runMoves(llvm::ArrayRef<ReshardStep::Move> moves, std::vector<LocalTensor>& ranks) const;
  bool isWhole(const LocalTensor& tensor) const;

  MeshSizes mesh;
  std::vector<int64_t> shape;
};

}  // namespace mlir::sgd::test

#endif
