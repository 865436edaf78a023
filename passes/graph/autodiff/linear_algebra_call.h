// A call of linear algebra whose gradient is written: its matrices, and theirs.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_LINEAR_ALGEBRA_CALL_H
#define SGD_PASSES_GRAPH_AUTODIFF_LINEAR_ALGEBRA_CALL_H

#include "dialects/sgd/linear_algebra.h"
#include "passes/graph/autodiff/matrix_math.h"
#include "passes/graph/autodiff/pullback.h"

namespace mlir::sgd {

class LinearAlgebraCall {
 public:
  LinearAlgebraCall(LinearAlgebraOp op, ArrayRef<Value> gradients, Pullback& pullback);

  bool has(linear_algebra::Option option) const { return (options & option) != 0; }

  // By number of a tensor of the call, of which a complex one counts once.
  Matrix operand(unsigned number) { return get(op.getInputs(), operands, number); }
  Matrix result(unsigned number) { return get(op.getResults(), results, number); }
  bool wants(unsigned operand) { return pullback.wants(op.getInputs()[operands[operand].first]); }
  /// The gradient of a result, with zeros for a part that has none; nothing where both have none.
  Matrix gradient(unsigned result);
  /// The gradients of all results, parts of complex ones each, with zeros for those that have none.
  SmallVector<Value> getGradients();
  /// Adds the gradient of an operand.
  void add(unsigned operand, Matrix gradient);

  LogicalResult refuse(const Twine& what, const Twine& advice) {
    return op->emitError() << stringifyLinearAlgebraKind(op.getKind()) << " " << what << "; expected " << advice;
  }

  /// Replaces the op by one with `options`, which computes more; its result results[i] is result i of this op. Returns
  /// the other call; this one is gone.
  LinearAlgebraCall replace(uint32_t options, ArrayRef<unsigned> results);

  LinearAlgebraOp op;
  uint32_t options;
  Pullback& pullback;
  MatrixMath math;

 private:
  /// The position of a tensor's real part, and whether an imaginary part follows it.
  using Places = SmallVector<std::pair<unsigned, bool>>;
  static Places findPlaces(ArrayRef<linear_algebra::Tensor> tensors);
  static Matrix get(ValueRange values, const Places& places, unsigned number) {
    auto [place, isComplex] = places[number];
    return {values[place], isComplex ? values[place + 1] : Value()};
  }

  SmallVector<Value> gradients;
  Places operands, results;
};

/// The gradient's rule for one kind.
using LinearAlgebraRule = LogicalResult(LinearAlgebraCall& call);

LinearAlgebraRule pullQr, pullPivotedQr, pullHouseholderProduct;  // orthogonal_rules.cpp
LinearAlgebraRule pullEigh, pullSvd, pullEig;                     // spectral_rules.cpp
LinearAlgebraRule pullFft, pullRealFft, pullInverseRealFft;       // fourier_rules.cpp

}  // namespace mlir::sgd

#endif
