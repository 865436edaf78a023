// Which reductions of a sharded step are those of gradients.
#ifndef SGD_PASSES_SPMD_COMPRESS_GRADIENTS_H
#define SGD_PASSES_SPMD_COMPRESS_GRADIENTS_H

#include <optional>

#include "dialects/sgd/sgd_dialect.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::sgd {

/// Whether it adds up floats over ranks, of a tensor with dimensions, and completes the sum.
bool isReduction(ReshardOp reshard);

/// The gradients of one function. It may change meanwhile, if the ops on which the loss depends stay.
class Gradients {
 public:
  explicit Gradients(func::FuncOp function);

  /// Whether the result with the role `loss` depends on `op`, or on the loop or branch that it is in.
  bool reachesLoss(Operation* op);

  /// The argument that steps carry whose next value is computed from `value` element by element: one that the loss
  /// depends on before others. Nothing where there is none.
  std::optional<unsigned> findState(Value value);

  /// Whether another reduction is of something that is computed from `value`, in any way: where the backward pass reads
  /// a sum, as that of batch norm does, more than state depends on it.
  bool reachesReduction(Value value);

 private:
  func::FuncOp function;
  llvm::DenseSet<Operation*> lossOps;
  llvm::DenseSet<Value> lossArguments;
};

}  // namespace mlir::sgd

#endif
