// Each routine on what is loaded, as matrix_solvers.cpp and matrix_spectra.cpp say for real matrices.
#include <algorithm>

#include "targets/cpu/device/linear_algebra/complex_matrix_call.h"

namespace sgd::cpu {

using linear_algebra::kConjugate;
using linear_algebra::kFull;
using linear_algebra::kLeftVectors;
using linear_algebra::kLower;
using linear_algebra::kQrIteration;
using linear_algebra::kRight;
using linear_algebra::kTranspose;
using linear_algebra::kUnitDiagonal;
using linear_algebra::kVectors;

// A row-major matrix is its transpose in column-major order, and of a Hermitian matrix l l^H that is l^T as upper
// factor.
template <typename R>
void ComplexMatrixCall<R>::Cholesky(const MatrixTensors<R>& t) const {
  C* factor = Matrices(t);
  LoadElements(t, 0, form_.n * form_.n, factor);
  lapack_.potrf(form_.Has(kLower) ? "U" : "L", &n_, factor, &n_, t.IntegersOut(2), 1);
  StoreElements(t, 0, form_.n * form_.n, factor);
}

// op(a) x = b is x^T op(a)^T = b^T, and memory holds a^T in column-major order: op stays the same.
template <typename R>
void ComplexMatrixCall<R>::TriangularSolve(const MatrixTensors<R>& t) const {
  const int order = form_.Has(kRight) ? n_ : m_;
  C* x = Matrices(t);
  C* a = LoadElements(t, 2, form_.m * form_.n, x);
  LoadElements(t, 0, form_.other() * form_.other(), a);
  const C one = 1;
  const char* op = form_.Has(kConjugate) ? "C" : form_.Has(kTranspose) ? "T" : "N";
  lapack_.trsm(form_.Has(kRight) ? "L" : "R", form_.Has(kLower) ? "U" : "L", op, form_.Has(kUnitDiagonal) ? "U" : "N",
               &n_, &m_, &one, a, &order, x, &n_, 1, 1, 1, 1);
  StoreElements(t, 0, form_.m * form_.n, x);
}

template <typename R>
void ComplexMatrixCall<R>::Lu(const MatrixTensors<R>& t) const {
  C* a = Matrices(t);
  Load(t, 0, form_.m, form_.n, a);
  lapack_.getrf(&m_, &n_, a, &m_, t.IntegersOut(2), t.IntegersOut(3));
  Store(t, 0, form_.m, form_.n, a);
}

template <typename R>
void ComplexMatrixCall<R>::Qr(const MatrixTensors<R>& t) const {
  C* a = Matrices(t);
  C* taus = Load(t, 0, form_.m, form_.n, a);
  int info = 0;
  lapack_.geqrf(&m_, &n_, a, &m_, taus, Work(t), &lwork_, &info);
  Store(t, 0, form_.m, form_.n, a);
  StoreElements(t, 2, form_.p(), taus);
}

template <typename R>
void ComplexMatrixCall<R>::PivotedQr(const MatrixTensors<R>& t) const {
  C* a = Matrices(t);
  C* taus = Load(t, 0, form_.m, form_.n, a);
  int* pivots = t.IntegersOut(2);
  std::copy_n(t.IntegersIn(2), form_.n, pivots);
  int info = 0;
  lapack_.geqp3(&m_, &n_, a, &m_, pivots, taus, Work(t), &lwork_, RealWork(t), &info);
  Store(t, 0, form_.m, form_.n, a);
  StoreElements(t, 3, form_.p(), taus);
}

template <typename R>
void ComplexMatrixCall<R>::HouseholderProduct(const MatrixTensors<R>& t) const {
  C* q = Matrices(t);
  C* taus = Load(t, 0, form_.m, form_.n, q);
  LoadElements(t, 2, form_.k, taus);
  int info = 0;
  lapack_.ungqr(&m_, &n_, &k_, q, &m_, taus, Work(t), &lwork_, &info);
  Store(t, 0, form_.m, form_.n, q);
}

template <typename R>
void ComplexMatrixCall<R>::HouseholderMultiply(const MatrixTensors<R>& t) const {
  const int rows = form_.Has(kRight) ? n_ : m_;
  C* c = Matrices(t);
  C* reflectors = Load(t, 4, form_.m, form_.n, c);
  C* taus = Load(t, 0, form_.other(), form_.k, reflectors);
  LoadElements(t, 2, form_.k, taus);
  int info = 0;
  lapack_.unmqr(form_.Has(kRight) ? "R" : "L", form_.Has(kTranspose) ? "C" : "N", &m_, &n_, &k_, reflectors, &rows,
                taus, c, &m_, Work(t), &lwork_, &info, 1, 1);
  Store(t, 0, form_.m, form_.n, c);
}

template <typename R>
void ComplexMatrixCall<R>::TridiagonalSolve(const MatrixTensors<R>& t) const {
  C* b = Matrices(t);
  C* lower = Load(t, 6, form_.m, form_.n, b);
  C* diagonal = LoadElements(t, 0, form_.m, lower);
  C* upper = LoadElements(t, 2, form_.m, diagonal);
  LoadElements(t, 4, form_.m, upper);
  lapack_.gtsv(&m_, &n_, lower + 1, diagonal, upper, b, &m_, t.IntegersOut(2));
  Store(t, 0, form_.m, form_.n, b);
}

template <typename R>
void ComplexMatrixCall<R>::Hessenberg(const MatrixTensors<R>& t) const {
  C* a = Matrices(t);
  C* taus = Load(t, 0, form_.n, form_.n, a);
  const int first = 1;
  lapack_.gehrd(&n_, &first, &n_, a, &n_, taus, Work(t), &lwork_, t.IntegersOut(4));
  Store(t, 0, form_.n, form_.n, a);
  StoreElements(t, 2, form_.n - 1, taus);
}

template <typename R>
void ComplexMatrixCall<R>::Tridiagonal(const MatrixTensors<R>& t) const {
  C* a = Matrices(t);
  C* taus = Load(t, 0, form_.n, form_.n, a);
  lapack_.hetrd(form_.Has(kLower) ? "L" : "U", &n_, a, &n_, t.Out(2), t.Out(3), taus, Work(t), &lwork_,
                t.IntegersOut(6), 1);
  Store(t, 0, form_.n, form_.n, a);
  StoreElements(t, 4, form_.n - 1, taus);
}

template <typename R>
void ComplexMatrixCall<R>::Eigh(const MatrixTensors<R>& t) const {
  if (!HasFiniteMatrix(t)) return FillWithNan(form_, t);
  C* a = Matrices(t);
  Load(t, 0, form_.n, form_.n, a);
  const bool has_vectors = form_.Has(kVectors);
  lapack_.heevd(has_vectors ? "V" : "N", form_.Has(kLower) ? "L" : "U", &n_, a, &n_, t.Out(has_vectors ? 2 : 0),
                Work(t), &lwork_, RealWork(t), &lrwork_, IntegerWork(t), &liwork_, t.IntegersOut(has_vectors ? 3 : 1),
                1, 1);
  if (has_vectors) Store(t, 0, form_.n, form_.n, a);
}

template <typename R>
void ComplexMatrixCall<R>::Svd(const MatrixTensors<R>& t) const {
  if (!HasFiniteMatrix(t)) return FillWithNan(form_, t);
  const bool has_vectors = form_.Has(kVectors);
  const uint64_t u_columns = form_.Has(kFull) ? form_.m : form_.p(), v_rows = form_.Has(kFull) ? form_.n : form_.p();
  C* a = Matrices(t);
  C* u = Load(t, 0, form_.m, form_.n, a);
  C* vt = u + (has_vectors ? form_.m * u_columns : 0);
  const char* job = !has_vectors ? "N" : form_.Has(kFull) ? "A" : "S";
  const int ldvt = static_cast<int>(v_rows);
  int* info = t.IntegersOut(has_vectors ? 5 : 1);
  if (form_.Has(kQrIteration)) {
    lapack_.gesvd(job, job, &m_, &n_, a, &m_, t.Out(0), u, &m_, vt, &ldvt, Work(t), &lwork_, RealWork(t), info, 1, 1);
  } else {
    lapack_.gesdd(job, &m_, &n_, a, &m_, t.Out(0), u, &m_, vt, &ldvt, Work(t), &lwork_, RealWork(t), IntegerWork(t),
                  info, 1);
  }
  if (!has_vectors) return;
  Store(t, 1, form_.m, u_columns, u);
  Store(t, 3, v_rows, form_.n, vt);
}

template <typename R>
void ComplexMatrixCall<R>::Eig(const MatrixTensors<R>& t) const {
  if (!HasFiniteMatrix(t)) return FillWithNan(form_, t);
  const bool has_left = form_.Has(kLeftVectors), has_right = form_.Has(kVectors);
  const uint64_t elements = form_.n * form_.n;
  C* a = Matrices(t);
  C* values = Load(t, 0, form_.n, form_.n, a);
  C* left = values + form_.n;
  C* right = left + (has_left ? elements : 0);
  const size_t first_right = has_left ? 4 : 2;
  lapack_.geev(has_left ? "V" : "N", has_right ? "V" : "N", &n_, a, &n_, values, left, &n_, right, &n_, Work(t),
               &lwork_, RealWork(t), t.IntegersOut(first_right + (has_right ? 2 : 0)), 1, 1);
  StoreElements(t, 0, form_.n, values);
  if (has_left) Store(t, 2, form_.n, form_.n, left);
  if (has_right) Store(t, first_right, form_.n, form_.n, right);
}

template <typename R>
void ComplexMatrixCall<R>::Schur(const MatrixTensors<R>& t) const {
  if (!HasFiniteMatrix(t)) return FillWithNan(form_, t);
  const bool has_vectors = form_.Has(kVectors);
  const size_t first_value = has_vectors ? 4 : 2;
  C* a = Matrices(t);
  C* values = Load(t, 0, form_.n, form_.n, a);
  C* vectors = values + form_.n;
  int sorted = 0;
  lapack_.gees(has_vectors ? "V" : "N", "N", nullptr, &n_, a, &n_, &sorted, values, vectors, &n_, Work(t), &lwork_,
               RealWork(t), nullptr, t.IntegersOut(first_value + 2), 1, 1);
  Store(t, 0, form_.n, form_.n, a);
  if (has_vectors) Store(t, 2, form_.n, form_.n, vectors);
  StoreElements(t, first_value, form_.n, values);
}

#define SGD_INSTANTIATE(R)                                                                \
  template void ComplexMatrixCall<R>::Cholesky(const MatrixTensors<R>&) const;            \
  template void ComplexMatrixCall<R>::TriangularSolve(const MatrixTensors<R>&) const;     \
  template void ComplexMatrixCall<R>::Lu(const MatrixTensors<R>&) const;                  \
  template void ComplexMatrixCall<R>::Qr(const MatrixTensors<R>&) const;                  \
  template void ComplexMatrixCall<R>::PivotedQr(const MatrixTensors<R>&) const;           \
  template void ComplexMatrixCall<R>::HouseholderProduct(const MatrixTensors<R>&) const;  \
  template void ComplexMatrixCall<R>::HouseholderMultiply(const MatrixTensors<R>&) const; \
  template void ComplexMatrixCall<R>::TridiagonalSolve(const MatrixTensors<R>&) const;    \
  template void ComplexMatrixCall<R>::Hessenberg(const MatrixTensors<R>&) const;          \
  template void ComplexMatrixCall<R>::Tridiagonal(const MatrixTensors<R>&) const;         \
  template void ComplexMatrixCall<R>::Eigh(const MatrixTensors<R>&) const;                \
  template void ComplexMatrixCall<R>::Svd(const MatrixTensors<R>&) const;                 \
  template void ComplexMatrixCall<R>::Eig(const MatrixTensors<R>&) const;                 \
  template void ComplexMatrixCall<R>::Schur(const MatrixTensors<R>&) const
SGD_INSTANTIATE(float);
SGD_INSTANTIATE(double);
#undef SGD_INSTANTIATE

}  // namespace sgd::cpu
