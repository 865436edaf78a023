// Dimensions of a program's arguments that are one: heads, hidden features, positions, experts.
#ifndef SGD_COMPILER_AUTO_SHARDING_LOGICAL_DIMS_H
#define SGD_COMPILER_AUTO_SHARDING_LOGICAL_DIMS_H

#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// A dimension of an argument.
struct ArgumentDim {
  unsigned argument = 0, dim = 0;

  auto operator<=>(const ArgumentDim&) const = default;
};

/// Dimensions of arguments that ops tie together, by their sharding rules: where one is sharded, propagation shards
/// the others.
struct LogicalDim {
  std::vector<ArgumentDim> members;  ///< ascending, at least one
  int64_t size = 0;                  ///< the least of what is tied: how many shards there may be
};

/// All of `function`, a program at the graph level whose carried results are decided, in the order of their first
/// members. Dimensions of size 1 are none. A dimension that is merged of others is tied to the outermost of them alone,
/// of which tiles are tiles of it.
std::vector<LogicalDim> findLogicalDims(func::FuncOp function);

}  // namespace mlir::sgd

#endif
