// Tensors that every rank of an axis, or of the whole mesh, holds alike.
#ifndef SGD_COMPILER_EXPECTATIONS_REPLICATED_TENSORS_H
#define SGD_COMPILER_EXPECTATIONS_REPLICATED_TENSORS_H

#include "compiler/expectations/measured_bytes.h"
#include "compiler/recipe/glob.h"
#include "dialects/plan/plan_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

struct ReplicatedTensors {
  MeasuredBytes measured;
  bool hasMatch = false;           ///< some tensor has a name that the glob matches
  std::vector<std::string> names;  ///< of all tensors
};

/// Bytes of the arguments of `function`, which is at the plan level, and of its results that no step carries, whose
/// names `glob` matches and that `axis` does not shard; of those that no axis shards where `axis` is empty. Nothing is
/// replicated over axes of one rank.
ReplicatedTensors findReplicatedTensors(func::FuncOp function, const TensorGlob& glob, MeshAttr mesh, StringRef axis);

}  // namespace mlir::sgd

#endif
