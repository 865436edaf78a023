// The update of matrices that share a stack, and Muon's iteration.
#ifndef SGD_PASSES_GRAPH_TRAINING_MATRIX_STACK_WRITER_H
#define SGD_PASSES_GRAPH_TRAINING_MATRIX_STACK_WRITER_H

#include "passes/graph/expressions/tensor_math.h"
#include "passes/graph/training/matrix_stacks.h"

namespace mlir::sgd {

/// A sharding of kAxesAttr, of a tensor of two dimensions, over parts of the ranks' axes.
ArrayAttr getAxesByDim(MLIRContext* context, const MatrixRanks& ranks, ArrayRef<AxisPart> first,
                       ArrayRef<AxisPart> second);
/// That of a stack.
ArrayAttr getStackAxes(MLIRContext* context, const MatrixRanks& ranks, int64_t owners);

/// Writes the update of a stack.
class MatrixStackWriter {
 public:
  /// `shapes`: of the matrices, by slot.
  MatrixStackWriter(TensorMath& math, const MatrixRanks& ranks, ArrayRef<SmallVector<int64_t>> shapes, int64_t slots,
                    int64_t owners);

  RankedTensorType getType(Type element) const;
  /// Zeros in empty slots. Gradients are reduced straight to the owners.
  Value join(ArrayRef<Value> matrices);
  /// The matrices of `stack`, the result of an op: shards of rows where parameters are sharded, else whole.
  SmallVector<Value> distribute(Value stack);
  /// The matrices of `stack`, the result of an op, whole on all ranks.
  SmallVector<Value> gather(Value stack);
  /// A stack of the matrices with singular values near 1.
  Value orthogonalize(Value stack);
  /// Multiplies each matrix by a factor.
  Value scale(Value stack, ArrayRef<double> factors);

 private:
  bool isTall(size_t slot) const { return shapes[slot][0] > shapes[slot][1]; }
  Value chooseByShape(Value tall, Value wide);
  SmallVector<Value> split(Value stack);

  TensorMath& math;
  const MatrixRanks& ranks;
  SmallVector<SmallVector<int64_t>> shapes;
  int64_t slots, owners, elements, shortSide, longSide;
};

/// Five steps of a Newton-Schulz iteration, which bring the singular values near 1. `matrix` has two dimensions, or a
/// third one before them.
Value orthogonalize(TensorMath& math, Value matrix);

/// The same of one matrix that all ranks share, in the faster way by the cost model: each rank computes all of it, or
/// ranks share the longer side and reduce its products in each step.
Value orthogonalizeTogether(TensorMath& math, Value matrix, const MatrixRanks& ranks);

}  // namespace mlir::sgd

#endif
