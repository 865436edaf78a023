// Factorisations that end after a fixed number of operations, and solvers.
#include <algorithm>
#include <cstring>

#include "targets/cpu/device/linear_algebra/matrix_call.h"
#include "targets/cpu/device/linear_algebra/matrix_transpose.h"

namespace sgd::cpu {

using linear_algebra::kLower;
using linear_algebra::kRight;
using linear_algebra::kTranspose;
using linear_algebra::kUnitDiagonal;

template <typename T>
void MatrixCall<T>::Cholesky(const MatrixTensors<T>& t) const {
  T* factor = t.Out(0);
  std::memcpy(factor, t.In(0), form_.n * form_.n * sizeof(T));
  lapack_.potrf(form_.Has(kLower) ? "U" : "L", &n_, factor, &n_, t.IntegersOut(1), 1);
}

// op(a) x = b is x^T op(a)^T = b^T, and memory holds a^T and b^T in column-major order.
template <typename T>
void MatrixCall<T>::TriangularSolve(const MatrixTensors<T>& t) const {
  T* x = t.Out(0);
  std::memcpy(x, t.In(1), form_.m * form_.n * sizeof(T));
  const int order = form_.Has(kRight) ? n_ : m_;
  const T one = 1;
  lapack_.trsm(form_.Has(kRight) ? "L" : "R", form_.Has(kLower) ? "U" : "L", form_.Has(kTranspose) ? "T" : "N",
               form_.Has(kUnitDiagonal) ? "U" : "N", &n_, &m_, &one, t.In(0), &order, x, &n_, 1, 1, 1, 1);
}

template <typename T>
void MatrixCall<T>::Lu(const MatrixTensors<T>& t) const {
  T* a = LoadMatrix(t);
  lapack_.getrf(&m_, &n_, a, &m_, t.IntegersOut(1), t.IntegersOut(2));
  Transpose(a, form_.n, form_.m, t.Out(0));
}

template <typename T>
void MatrixCall<T>::Qr(const MatrixTensors<T>& t) const {
  T* a = LoadMatrix(t);
  int info = 0;
  lapack_.geqrf(&m_, &n_, a, &m_, t.Out(1), Work(t), &lwork_, &info);
  Transpose(a, form_.n, form_.m, t.Out(0));
}

template <typename T>
void MatrixCall<T>::PivotedQr(const MatrixTensors<T>& t) const {
  T* a = LoadMatrix(t);
  std::copy_n(t.IntegersIn(1), form_.n, t.IntegersOut(1));
  int info = 0;
  lapack_.geqp3(&m_, &n_, a, &m_, t.IntegersOut(1), t.Out(2), Work(t), &lwork_, &info);
  Transpose(a, form_.n, form_.m, t.Out(0));
}

template <typename T>
void MatrixCall<T>::HouseholderProduct(const MatrixTensors<T>& t) const {
  T* q = LoadMatrix(t);
  int info = 0;
  lapack_.orgqr(&m_, &n_, &k_, q, &m_, t.In(1), Work(t), &lwork_, &info);
  Transpose(q, form_.n, form_.m, t.Out(0));
}

template <typename T>
void MatrixCall<T>::HouseholderMultiply(const MatrixTensors<T>& t) const {
  T* c = LoadMatrix(t);
  T* reflectors = c + form_.m * form_.n;
  const int rows = form_.Has(kRight) ? n_ : m_;
  Transpose(t.In(0), static_cast<uint64_t>(rows), form_.k, reflectors);
  int info = 0;
  lapack_.ormqr(form_.Has(kRight) ? "R" : "L", form_.Has(kTranspose) ? "T" : "N", &m_, &n_, &k_, reflectors, &rows,
                t.In(1), c, &m_, Work(t), &lwork_, &info, 1, 1);
  Transpose(c, form_.n, form_.m, t.Out(0));
}

template <typename T>
void MatrixCall<T>::TridiagonalSolve(const MatrixTensors<T>& t) const {
  T* b = LoadMatrix(t);
  T* lower = b + form_.m * form_.n;
  T* diagonal = lower + form_.m;
  T* upper = diagonal + form_.m;
  std::copy_n(t.In(0), form_.m, lower);
  std::copy_n(t.In(1), form_.m, diagonal);
  std::copy_n(t.In(2), form_.m, upper);
  // Its first element is that of the second row.
  lapack_.gtsv(&m_, &n_, lower + 1, diagonal, upper, b, &m_, t.IntegersOut(1));
  Transpose(b, form_.n, form_.m, t.Out(0));
}

template <typename T>
void MatrixCall<T>::Hessenberg(const MatrixTensors<T>& t) const {
  T* a = LoadMatrix(t);
  const int first = 1;
  lapack_.gehrd(&n_, &first, &n_, a, &n_, t.Out(1), Work(t), &lwork_, t.IntegersOut(2));
  Transpose(a, form_.n, form_.n, t.Out(0));
}

template <typename T>
void MatrixCall<T>::Tridiagonal(const MatrixTensors<T>& t) const {
  T* a = LoadMatrix(t);
  lapack_.sytrd(form_.Has(kLower) ? "L" : "U", &n_, a, &n_, t.Out(1), t.Out(2), t.Out(3), Work(t), &lwork_,
                t.IntegersOut(4), 1);
  Transpose(a, form_.n, form_.n, t.Out(0));
}

#define SGD_INSTANTIATE(T)                                                         \
  template void MatrixCall<T>::Cholesky(const MatrixTensors<T>&) const;            \
  template void MatrixCall<T>::TriangularSolve(const MatrixTensors<T>&) const;     \
  template void MatrixCall<T>::Lu(const MatrixTensors<T>&) const;                  \
  template void MatrixCall<T>::Qr(const MatrixTensors<T>&) const;                  \
  template void MatrixCall<T>::PivotedQr(const MatrixTensors<T>&) const;           \
  template void MatrixCall<T>::HouseholderProduct(const MatrixTensors<T>&) const;  \
  template void MatrixCall<T>::HouseholderMultiply(const MatrixTensors<T>&) const; \
  template void MatrixCall<T>::TridiagonalSolve(const MatrixTensors<T>&) const;    \
  template void MatrixCall<T>::Hessenberg(const MatrixTensors<T>&) const;          \
  template void MatrixCall<T>::Tridiagonal(const MatrixTensors<T>&) const
SGD_INSTANTIATE(float);
SGD_INSTANTIATE(double);
#undef SGD_INSTANTIATE

}  // namespace sgd::cpu
