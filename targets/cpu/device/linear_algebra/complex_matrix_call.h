// One routine of LAPACK for one complex matrix, with separate real and imaginary parts in row-major order, as in the
// graph.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/linear_algebra/form.h"
#include "targets/cpu/device/linear_algebra/complex_lapack.h"
#include "targets/cpu/device/linear_algebra/matrix_call.h"

namespace sgd::cpu {

// As MatrixCall. Parts are put side by side in working memory, and results taken apart: n^2 beside n^3.
template <typename R>
class ComplexMatrixCall : public MatrixRoutines<ComplexMatrixCall<R>, R> {
 public:
  using C = std::complex<R>;

  // `form` has kComplex, and WhyNot of it is empty.
  ComplexMatrixCall(const ComplexLapackRoutines<R>& lapack, const linear_algebra::Form& form);

  const linear_algebra::Form& form() const { return form_; }

 private:
  friend class MatrixRoutines<ComplexMatrixCall<R>, R>;

  void Cholesky(const MatrixTensors<R>& t) const;
  void TriangularSolve(const MatrixTensors<R>& t) const;
  void Lu(const MatrixTensors<R>& t) const;
  void Qr(const MatrixTensors<R>& t) const;
  void PivotedQr(const MatrixTensors<R>& t) const;
  void HouseholderProduct(const MatrixTensors<R>& t) const;
  void HouseholderMultiply(const MatrixTensors<R>& t) const;
  void Eigh(const MatrixTensors<R>& t) const;
  void Svd(const MatrixTensors<R>& t) const;
  void Eig(const MatrixTensors<R>& t) const;
  void Schur(const MatrixTensors<R>& t) const;
  void Hessenberg(const MatrixTensors<R>& t) const;
  void Tridiagonal(const MatrixTensors<R>& t) const;
  void TridiagonalSolve(const MatrixTensors<R>& t) const;

  C* Matrices(const MatrixTensors<R>& t) const { return reinterpret_cast<C*>(t.workspace); }
  C* Work(const MatrixTensors<R>& t) const { return reinterpret_cast<C*>(t.workspace + work_offset_); }
  R* RealWork(const MatrixTensors<R>& t) const { return reinterpret_cast<R*>(t.workspace + real_offset_); }
  int* IntegerWork(const MatrixTensors<R>& t) const { return reinterpret_cast<int*>(t.workspace + integer_offset_); }

  // Operand `real` and the imaginary parts behind it, a matrix of `rows` by `columns`, column-major at `to`. Returns
  // the end of it there.
  C* Load(const MatrixTensors<R>& t, size_t real, uint64_t rows, uint64_t columns, C* to) const;
  // The same for elements that stay in their order.
  C* LoadElements(const MatrixTensors<R>& t, size_t real, uint64_t elements, C* to) const;
  // The other way round, to the result `real` and the one behind it.
  void Store(const MatrixTensors<R>& t, size_t real, uint64_t rows, uint64_t columns, const C* from) const;
  void StoreElements(const MatrixTensors<R>& t, size_t real, uint64_t elements, const C* from) const;
  bool HasFiniteMatrix(const MatrixTensors<R>& t) const;

  const ComplexLapackRoutines<R>& lapack_;
  const linear_algebra::Form form_;
  const int m_, n_, k_;
  const int lwork_, lrwork_, liwork_;
  const uint64_t work_offset_, real_offset_, integer_offset_;
};

extern template class ComplexMatrixCall<float>;
extern template class ComplexMatrixCall<double>;

}  // namespace sgd::cpu
