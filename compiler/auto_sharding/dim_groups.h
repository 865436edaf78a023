// Layers alike: logical dimensions of tensors whose names differ in numbers alone.
#ifndef SGD_COMPILER_AUTO_SHARDING_DIM_GROUPS_H
#define SGD_COMPILER_AUTO_SHARDING_DIM_GROUPS_H

#include "compiler/auto_sharding/step_facts.h"

namespace mlir::sgd {

/// A member of groups: an argument that may be sharded.
struct GroupedTensor {
  std::string name;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;        ///< of a parameter; 0: an input
  bool isShardable = false;  ///< a parameter or an input; not the state of an optimizer, which follows its parameter
};

/// Joins those of `dims` whose members have the same names but for numbers, ranks and positions, as layers of any width
/// do, unless both are of one argument: one group for each such number of them. Dimensions of nothing shardable are
/// left out, and so are those of `without`, which ascends.
std::vector<DimGroup> groupDims(llvm::ArrayRef<LogicalDim> dims, llvm::ArrayRef<GroupedTensor> tensors,
                                llvm::ArrayRef<ArgumentDim> without);

}  // namespace mlir::sgd

#endif
