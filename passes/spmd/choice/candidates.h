// Annotations that could be added to a program, so that nearly all of it is sharded otherwise.
#ifndef SGD_PASSES_SPMD_CHOICE_CANDIDATES_H
#define SGD_PASSES_SPMD_CHOICE_CANDIDATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// A form of a function that sgd-shard can be given.
struct Candidate {
  /// An argument, by number, and its sharding inside the function.
  SmallVector<std::pair<unsigned, ShardingAttr>, 2> inputs;
  bool dropsConstraints = false;

  void apply(func::FuncOp function) const;

  /// "with tokens sharded inside it as [{"data", "model"}, {}]", for people.
  std::string getText(func::FuncOp function) const;
};

/// Forms in which inputs that no step carries to the next, and that are sharded, are sharded over one more axis that
/// arguments name, or over all such axes; without those that constraints inside the function name. With
/// `mayDropConstraints`, the same without constraints.
SmallVector<Candidate> findCandidates(func::FuncOp function, MeshOp mesh, bool mayDropConstraints);

}  // namespace mlir::sgd

#endif
