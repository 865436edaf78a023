// Which dimensions a sequential axis will cut: what ranks exchange is within one of its parts.
#ifndef SGD_PASSES_SHARDING_CONTEXT_SEQUENTIAL_DIMS_H
#define SGD_PASSES_SHARDING_CONTEXT_SEQUENTIAL_DIMS_H

#include "passes/sharding/propagation/propagated_copy.h"

namespace mlir::sgd {

/// The dimensions that arguments' parts of the batch become, by propagation of the one axis through a copy.
class SequentialDims {
 public:
  /// `axis` may be null: nothing is cut.
  SequentialDims(func::FuncOp function, FlatSymbolRefAttr mesh, MeshAxisAttr axis);

  /// How many parts of dimension `dim` of `value`, of the function, are computed one after the other.
  int64_t getParts(Value value, int64_t dim) const;

 private:
  int64_t parts = 1;
  std::optional<PropagatedCopy> copy;
};

}  // namespace mlir::sgd

#endif
