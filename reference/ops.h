// What each op of the graph level means, on whole tensors. `out` has the result's type and is zero; operands are as in
// the op. Each function fails, with a diagnostic at the op, on what the evaluator does not know.
#ifndef SGD_REFERENCE_OPS_H
#define SGD_REFERENCE_OPS_H

#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/sgd_dialect.h"
#include "reference/tensor.h"

namespace mlir::sgd::reference {

using Operands = ArrayRef<const Tensor*>;

/// The scalar that `body`, a function of scalars that yields one, gives for `arguments` (tensors without dimensions).
FailureOr<Tensor> evaluateScalarBody(Block& body, Operands arguments);

/// Ops that order elements: several results. Failure without a diagnostic for any other op.
LogicalResult evaluateOrder(Operation* op, Operands in, ArrayRef<Tensor*> out);

/// Attention and its gradients. Failure without a diagnostic for any other op.
LogicalResult evaluateAttention(Operation* op, Operands in, ArrayRef<Tensor*> out);

/// Any op with one result and no region that works on one rank alone.
LogicalResult evaluateOp(Operation* op, Operands in, Tensor& out);

LogicalResult evaluateElementwise(Operation* op, Operands in, Tensor& out);

/// Ops that take each result element from one element of an operand: broadcasts, transposes, slices, concatenations,
/// ... Failure without a diagnostic for any other op.
LogicalResult evaluateMove(Operation* op, Operands in, Tensor& out);

void evaluatePad(PadOp op, const Tensor& in, const Tensor& value, Tensor& out);
void evaluateGather(GatherOp op, const Tensor& in, const Tensor& indices, Tensor& out);
LogicalResult evaluateScatter(ScatterOp op, const Tensor& in, const Tensor& indices, const Tensor& updates,
                              Tensor& out);
LogicalResult evaluateReduce(ReduceOp op, const Tensor& in, Tensor& out);
LogicalResult evaluateCumulative(CumulativeOp op, const Tensor& in, Tensor& out);
void evaluateDot(DotGeneralOp op, const Tensor& lhs, const Tensor& rhs, Tensor& out);
void evaluateGroupedDot(GroupedDotOp op, const Tensor& lhs, const Tensor& rhs, const Tensor& rows, const Tensor& groups,
                        Tensor& out);
void evaluateConvolution(ConvolutionOp op, const Tensor& lhs, const Tensor& rhs, Tensor& out);
void evaluateConvolve(ConvolveOp op, const Tensor& lhs, const Tensor& rhs, Tensor& out);
void evaluateContract(ContractOp op, const Tensor& lhs, const Tensor& rhs, Tensor& out);

}  // namespace mlir::sgd::reference

#endif
