// The shardings that a user wrote: on arguments, results and sharding constraints.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_ANNOTATIONS_H
#define SGD_PASSES_SHARDING_PROPAGATION_ANNOTATIONS_H

#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// One annotated tensor. Results of a function are no values of it: they have an index instead.
struct Annotation {
  Value value;                  // argument or result of a constraint; null for a function result
  unsigned functionResult = 0;  // where `value` is null
  ShardingAttr sharding;
};

/// All annotations of `function`. One that names another mesh is an error.
FailureOr<SmallVector<Annotation>> collectAnnotations(func::FuncOp function, const MeshAxes& mesh);

/// By result of `function`: the argument that it is on the next step (sgd.carry); where that is not known, the one of
/// its type whose buffer it takes (sgd.alias_output), unless another result is that one's next value; else null.
SmallVector<BlockArgument> getNextArguments(func::FuncOp function);

/// After types and attributes have their final shardings: an argument keeps its sharding from step to step, so a result
/// that the user has sharded otherwise is not carried to it, and the argument is marked as doubtful.
void doubtReshardedCarries(func::FuncOp function);

}  // namespace mlir::sgd

#endif
