// The shardings that propagation would give a function, which stays as it is.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_PROPAGATED_COPY_H
#define SGD_PASSES_SHARDING_PROPAGATION_PROPAGATED_COPY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/sharding/propagation/propagation.h"

namespace mlir::sgd {

/// Shards the arguments for which `getDim` gives a dimension along it, over all of `mesh`, and removes every other
/// annotation: propagation then finds where these dimensions are in the values of the function.
void shardArgumentsAlone(func::FuncOp function, const MeshAxes& mesh,
                         llvm::function_ref<std::optional<unsigned>(unsigned argument)> getDim);

class PropagatedCopy {
 public:
  /// `prepare` may change the copy's shardings before they are propagated.
  PropagatedCopy(func::FuncOp function, const MeshAxes& mesh, llvm::function_ref<void(func::FuncOp)> prepare);

  /// False where propagation refuses the function; there are no axes then.
  explicit operator bool() const { return shardings.has_value(); }

  /// Returns the axes of dimension `dim` of `value`, a value of the function.
  AxisParts getAxes(Value value, int64_t dim) const { return (*shardings)[mapping.lookup(value)].axes.dims[dim].axes; }

  void resolveConflicts();

 private:
  IRMapping mapping;
  OwningOpRef<func::FuncOp> copy;
  SmallVector<RuledOp, 0> ops;
  std::optional<ShardingMap> shardings;
};

}  // namespace mlir::sgd

#endif
