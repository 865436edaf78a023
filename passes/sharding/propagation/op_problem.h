// An op with the shardings of its tensors, as the choice of its assignment sees it.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_OP_PROBLEM_H
#define SGD_PASSES_SHARDING_PROPAGATION_OP_PROBLEM_H

#include "passes/sharding/propagation/assignment.h"
#include "passes/sharding/propagation/propagation.h"

namespace mlir::sgd {

/// `tensors` point into `axes` and into the rule: the op's ranked operands, then its ranked results.
class OpProblem {
 public:
  /// `axesOf` is how an operand is sharded, or how a result is wanted.
  OpProblem(const RuledOp& ruled, llvm::function_ref<TensorAxes(Value, bool isResult)> axesOf);
  OpProblem(const OpProblem&) = delete;

  AssignmentProblem view() const { return {sizes, canBeSharded, isReduction, tensors, tiling}; }
  ReduceKind getReduceKind() const { return reduceKind; }
  const AssignedTensor& getTensor(unsigned index) const { return tensors[index]; }
  /// By tensor.
  ArrayRef<Value> getValues() const { return values; }

 private:
  Tiling tiling;
  SmallVector<int64_t> sizes;
  SmallVector<bool> canBeSharded, isReduction;
  ReduceKind reduceKind = ReduceKind::Add;
  SmallVector<TensorAxes, 4> axes;
  SmallVector<AssignedTensor, 4> tensors;
  SmallVector<Value, 4> values;
};

}  // namespace mlir::sgd

#endif
