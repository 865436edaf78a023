// Arithmetic on real and complex matrices, the last two dimensions of tensors: what rules of linear algebra write.
#ifndef SGD_PASSES_GRAPH_AUTODIFF_MATRIX_MATH_H
#define SGD_PASSES_GRAPH_AUTODIFF_MATRIX_MATH_H

#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// Real and imaginary parts; a real matrix has no `im`. Null parts of a gradient stand for zeros.
struct Matrix {
  Value re, im;

  explicit operator bool() const { return re || im; }
  ArrayRef<int64_t> shape() const { return shapeOf(re); }
  int64_t rows() const { return shape()[shape().size() - 2]; }
  int64_t columns() const { return shape().back(); }
};

class MatrixMath {
 public:
  explicit MatrixMath(TensorMath& math) : math(math) {}

  Matrix add(Matrix a, Matrix b);
  Matrix subtract(Matrix a, Matrix b) { return add(a, minus(b)); }
  Matrix minus(Matrix a);
  Matrix conjugate(Matrix a);
  Matrix transpose(Matrix a);
  /// The conjugate of the transpose.
  Matrix adjoint(Matrix a) { return conjugate(transpose(a)); }
  Matrix multiply(Matrix a, Matrix b);
  /// a + adjoint(a).
  Matrix addAdjoint(Matrix a) { return add(a, adjoint(a)); }

  /// Elements times the real tensor `factors`, of the same shape.
  Matrix scale(Matrix a, Value factors);
  /// `vector`, [..., n], as the rows or columns of [..., m, n] or [..., n, m].
  Value asRows(Value vector, int64_t rows);
  Value asColumns(Value vector, int64_t columns);

  /// The lower or upper triangle, with zeros elsewhere.
  Matrix triangle(Matrix a, bool isLower, bool withDiagonal = true);
  /// Real parts of the diagonal times `factor`; other elements as they are.
  Matrix scaleRealDiagonal(Matrix a, double factor);
  /// `yes` on the diagonal of matrices like `like`, `no` elsewhere.
  Value onDiagonal(Value like, Value yes, Value no);
  /// The rows and columns from 0 to `rows` and `columns`: cut, or padded with zeros.
  Matrix resize(Matrix a, int64_t rows, int64_t columns);
  /// The square identity of the type of `like`.
  Value identity(Value like);

  /// x with op(a) x = b, or x op(a) = b, by `options` of linear_algebra::Option.
  Matrix solve(Matrix a, Matrix b, uint32_t options);
  /// The options for the adjoint of matrices like `a`.
  static uint32_t adjointOptions(Matrix a);

  /// Zeros with `values`, [..., n, k], as rows `positions`, [..., n].
  Matrix putRows(Matrix values, Value positions);

  TensorMath& math;

 private:
  /// `write` of each part that there is.
  template <typename Write>
  Matrix eachPart(Matrix a, Write write) {
    return {write(a.re), a.im ? write(a.im) : Value()};
  }
  Value multiply(Value a, Value b);
  /// Numbers of rows (dimension rank - 2) or columns (rank - 1), in the shape of `like`.
  Value number(Value like, int64_t fromLast);
};

}  // namespace mlir::sgd

#endif
