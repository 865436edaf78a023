// Linear algebra as an op (linear_algebra_ops.td), and how it and the plan's instruction name a call.
#ifndef SGD_DIALECTS_SGD_LINEAR_ALGEBRA_H
#define SGD_DIALECTS_SGD_LINEAR_ALGEBRA_H

#include "dialects/sgd/sgd_dialect.h"
#include "runtime/linear_algebra/form.h"

#include "dialects/sgd/linear_algebra_enums.h.inc"

#define GET_OP_CLASSES
#include "dialects/sgd/linear_algebra_ops.h.inc"

namespace mlir::sgd {

namespace linear_algebra = ::sgd::linear_algebra;

/// The options of an op of either level.
template <typename OpTy>
uint32_t getLinearAlgebraOptions(OpTy op) {
  using namespace linear_algebra;
  return (op.getLower() ? kLower : 0u) | (op.getRight() ? kRight : 0u) | (op.getTranspose() ? kTranspose : 0u) |
         (op.getUnitDiagonal() ? kUnitDiagonal : 0u) | (op.getVectors() ? kVectors : 0u) |
         (op.getLeftVectors() ? kLeftVectors : 0u) | (op.getFull() ? kFull : 0u) |
         (op.getQrIteration() ? kQrIteration : 0u) | (op.getInverse() ? kInverse : 0u) |
         (op.getOddLength() ? kOddLength : 0u) | (op.getTwoDims() ? kTwoDims : 0u) |
         (op.getThreeDims() ? kThreeDims : 0u) | (op.getPairedOperand() ? kPairedOperand : 0u) |
         (op.getPairedResult() ? kPairedResult : 0u) | (op.getComplex() ? kComplex : 0u) |
         (op.getConjugate() ? kConjugate : 0u);
}

/// Sets on `op`, which has none, the options in `options`.
template <typename OpTy>
void setLinearAlgebraOptions(OpTy op, uint32_t options) {
  using namespace linear_algebra;
  op.setLower((options & kLower) != 0);
  op.setRight((options & kRight) != 0);
  op.setTranspose((options & kTranspose) != 0);
  op.setUnitDiagonal((options & kUnitDiagonal) != 0);
  op.setVectors((options & kVectors) != 0);
  op.setLeftVectors((options & kLeftVectors) != 0);
  op.setFull((options & kFull) != 0);
  op.setQrIteration((options & kQrIteration) != 0);
  op.setInverse((options & kInverse) != 0);
  op.setOddLength((options & kOddLength) != 0);
  op.setTwoDims((options & kTwoDims) != 0);
  op.setThreeDims((options & kThreeDims) != 0);
  op.setPairedOperand((options & kPairedOperand) != 0);
  op.setPairedResult((options & kPairedResult) != 0);
  op.setComplex((options & kComplex) != 0);
  op.setConjugate((options & kConjugate) != 0);
}

/// The form of calls of `kind` on `inputs`; nullopt where the main operand is no matrix or the number of operands is
/// wrong.
std::optional<linear_algebra::Form> getLinearAlgebraForm(LinearAlgebraKind kind, uint32_t options, TypeRange inputs);

/// A call of `kind` on `inputs`, whose result types follow; they must fit.
LinearAlgebraOp createLinearAlgebra(OpBuilder& builder, Location loc, LinearAlgebraKind kind, uint32_t options,
                                    ValueRange inputs);

/// Returns the form of a verified op.
linear_algebra::Form getLinearAlgebraForm(LinearAlgebraOp op);

/// The leading dimensions of a verified op's tensors.
ArrayRef<int64_t> getLinearAlgebraBatch(LinearAlgebraOp op);

/// Checks operands and results of a call against its form; says what is wrong through `emitError`. Encodings are not
/// looked at.
LogicalResult verifyLinearAlgebra(LinearAlgebraKind kind, uint32_t options, TypeRange inputs, TypeRange results,
                                  function_ref<InFlightDiagnostic()> emitError);

/// The types of an op's results: `batch`, then a matrix' own dimensions; elements are `element` or i32.
SmallVector<Type> getLinearAlgebraResultTypes(const linear_algebra::Form& form, ArrayRef<int64_t> batch, Type element);

}  // namespace mlir::sgd

#endif
