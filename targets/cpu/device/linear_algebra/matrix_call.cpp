// Shared by the routines, which are in matrix_solvers.cpp and matrix_spectra.cpp.
#include "targets/cpu/device/linear_algebra/matrix_call.h"

#include <cmath>
#include <limits>

#include "targets/cpu/device/linear_algebra/matrix_transpose.h"

namespace sgd::cpu {

using linear_algebra::Form;
using linear_algebra::Kind;
using linear_algebra::Workspace;

namespace {

// Bytes of the parts of a workspace before the one that is wanted.
uint64_t OffsetOf(Workspace before, uint64_t element_bytes) { return before.Bytes(element_bytes); }

}  // namespace

template <typename T>
MatrixCall<T>::MatrixCall(const LapackRoutines<T>& lapack, const Form& form)
    : lapack_(lapack),
      form_(form),
      m_(LapackInt(form.m)),
      n_(LapackInt(form.n)),
      k_(LapackInt(form.k)),
      lwork_(LapackInt(linear_algebra::WorkspaceOf(form).work)),
      liwork_(LapackInt(linear_algebra::WorkspaceOf(form).integers)),
      work_offset_(OffsetOf({.matrices = linear_algebra::WorkspaceOf(form).matrices}, sizeof(T))),
      integer_offset_(OffsetOf(
          {.matrices = linear_algebra::WorkspaceOf(form).matrices, .work = linear_algebra::WorkspaceOf(form).work},
          sizeof(T))) {}

template <typename T>
T* MatrixCall<T>::LoadMatrix(const MatrixTensors<T>& t) const {
  T* matrix = reinterpret_cast<T*>(t.workspace);
  Transpose(t.In(linear_algebra::OperandsOf(form_.kind, form_.options).main), form_.m, form_.n, matrix);
  return matrix;
}

template <typename T>
bool IsFinite(const Form& form, const T* row_major) {
  const bool is_symmetric = form.kind == Kind::kEigh;
  for (uint64_t row = 0; row < form.m; ++row) {
    const uint64_t begin = is_symmetric && !form.Has(linear_algebra::kLower) ? row : 0;
    const uint64_t end = is_symmetric && form.Has(linear_algebra::kLower) ? row + 1 : form.n;
    for (uint64_t column = begin; column < end; ++column) {
      if (!std::isfinite(row_major[row * form.n + column])) return false;
    }
  }
  return true;
}

template <typename T>
void FillWithNan(const Form& form, const MatrixTensors<T>& t) {
  size_t i = 0;
  for (const linear_algebra::Tensor& output : linear_algebra::OutputsOf(form)) {
    for (uint64_t at = 0; at < output.Elements(); ++at) {
      if (output.is_integer) {
        t.IntegersOut(i)[at] = -1;
      } else {
        t.Out(i)[at] = std::numeric_limits<T>::quiet_NaN();
      }
    }
    ++i;
  }
}

template bool IsFinite(const Form&, const float*);
template bool IsFinite(const Form&, const double*);
template void FillWithNan(const Form&, const MatrixTensors<float>&);
template void FillWithNan(const Form&, const MatrixTensors<double>&);
template class MatrixCall<float>;
template class MatrixCall<double>;

}  // namespace sgd::cpu
