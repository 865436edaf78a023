// Eigenvalues and singular values: iterations, which are called with finite matrices alone.
#include "targets/cpu/device/linear_algebra/matrix_call.h"
#include "targets/cpu/device/linear_algebra/matrix_transpose.h"

namespace sgd::cpu {

using linear_algebra::kFull;
using linear_algebra::kLeftVectors;
using linear_algebra::kLower;
using linear_algebra::kQrIteration;
using linear_algebra::kVectors;

template <typename T>
void MatrixCall<T>::Eigh(const MatrixTensors<T>& t) const {
  if (!IsFinite(form_, t.In(0))) return FillWithNan(form_, t);
  T* a = LoadMatrix(t);
  const bool has_vectors = form_.Has(kVectors);
  lapack_.syevd(has_vectors ? "V" : "N", form_.Has(kLower) ? "L" : "U", &n_, a, &n_, t.Out(has_vectors ? 1 : 0),
                Work(t), &lwork_, IntegerWork(t), &liwork_, t.IntegersOut(has_vectors ? 2 : 1), 1, 1);
  if (has_vectors) Transpose(a, form_.n, form_.n, t.Out(0));
}

template <typename T>
void MatrixCall<T>::Svd(const MatrixTensors<T>& t) const {
  if (!IsFinite(form_, t.In(0))) return FillWithNan(form_, t);
  T* a = LoadMatrix(t);
  const bool has_vectors = form_.Has(kVectors);
  const uint64_t u_columns = form_.Has(kFull) ? form_.m : form_.p(), v_rows = form_.Has(kFull) ? form_.n : form_.p();
  T* u = a + form_.m * form_.n;
  T* vt = u + (has_vectors ? form_.m * u_columns : 0);
  const char* job = !has_vectors ? "N" : form_.Has(kFull) ? "A" : "S";
  const int ldvt = static_cast<int>(v_rows);
  int* info = t.IntegersOut(has_vectors ? 3 : 1);
  if (form_.Has(kQrIteration)) {
    lapack_.gesvd(job, job, &m_, &n_, a, &m_, t.Out(0), u, &m_, vt, &ldvt, Work(t), &lwork_, info, 1, 1);
  } else {
    lapack_.gesdd(job, &m_, &n_, a, &m_, t.Out(0), u, &m_, vt, &ldvt, Work(t), &lwork_, IntegerWork(t), info, 1);
  }
  if (!has_vectors) return;
  Transpose(u, u_columns, form_.m, t.Out(1));
  Transpose(vt, form_.n, v_rows, t.Out(2));
}

namespace {

// LAPACK gives a pair of conjugate vectors as two columns: real parts, then imaginary parts of the first.
template <typename T>
void UnpackVectors(const T* columns, const T* imaginary_values, uint64_t n, T* real, T* imaginary) {
  for (uint64_t j = 0; j < n; ++j) {
    const bool is_pair = imaginary_values[j] != 0 && j + 1 < n;
    for (uint64_t row = 0; row < n; ++row) {
      real[row * n + j] = columns[j * n + row];
      imaginary[row * n + j] = is_pair ? columns[(j + 1) * n + row] : T{0};
      if (!is_pair) continue;
      real[row * n + j + 1] = columns[j * n + row];
      imaginary[row * n + j + 1] = -columns[(j + 1) * n + row];
    }
    if (is_pair) ++j;
  }
}

}  // namespace

template <typename T>
void MatrixCall<T>::Eig(const MatrixTensors<T>& t) const {
  if (!IsFinite(form_, t.In(0))) return FillWithNan(form_, t);
  T* a = LoadMatrix(t);
  const bool has_left = form_.Has(kLeftVectors), has_right = form_.Has(kVectors);
  const uint64_t elements = form_.n * form_.n;
  T* left = a + elements;
  T* right = left + (has_left ? elements : 0);
  const size_t first_right = has_left ? 4 : 2;
  int* info = t.IntegersOut(first_right + (has_right ? 2 : 0));
  lapack_.geev(has_left ? "V" : "N", has_right ? "V" : "N", &n_, a, &n_, t.Out(0), t.Out(1), left, &n_, right, &n_,
               Work(t), &lwork_, info, 1, 1);
  if (has_left) UnpackVectors(left, t.Out(1), form_.n, t.Out(2), t.Out(3));
  if (has_right) UnpackVectors(right, t.Out(1), form_.n, t.Out(first_right), t.Out(first_right + 1));
}

template <typename T>
void MatrixCall<T>::Schur(const MatrixTensors<T>& t) const {
  if (!IsFinite(form_, t.In(0))) return FillWithNan(form_, t);
  T* a = LoadMatrix(t);
  const bool has_vectors = form_.Has(kVectors);
  T* vectors = a + form_.n * form_.n;
  const size_t values = has_vectors ? 2 : 1;
  int sorted = 0;
  lapack_.gees(has_vectors ? "V" : "N", "N", nullptr, &n_, a, &n_, &sorted, t.Out(values), t.Out(values + 1), vectors,
               &n_, Work(t), &lwork_, nullptr, t.IntegersOut(values + 2), 1, 1);
  Transpose(a, form_.n, form_.n, t.Out(0));
  if (has_vectors) Transpose(vectors, form_.n, form_.n, t.Out(1));
}

#define SGD_INSTANTIATE(T)                                          \
  template void MatrixCall<T>::Eigh(const MatrixTensors<T>&) const; \
  template void MatrixCall<T>::Svd(const MatrixTensors<T>&) const;  \
  template void MatrixCall<T>::Eig(const MatrixTensors<T>&) const;  \
  template void MatrixCall<T>::Schur(const MatrixTensors<T>&) const
SGD_INSTANTIATE(float);
SGD_INSTANTIATE(double);
#undef SGD_INSTANTIATE

}  // namespace sgd::cpu
