// Copies between parts and complex numbers; complex_matrix_routines.cpp holds the routines.
#include "targets/cpu/device/linear_algebra/complex_matrix_call.h"

#include <algorithm>

namespace sgd::cpu {

using linear_algebra::Form;
using linear_algebra::Kind;
using linear_algebra::Workspace;

namespace {

// Square tiles, so that a cache line that is read or written stays until all of it is.
constexpr uint64_t kTile = 32;

// The first part of a workspace.
Workspace MatricesOf(const Form& form) {
  return {.matrices = linear_algebra::WorkspaceOf(form).matrices, .is_complex = true};
}

Workspace WorkOf(const Form& form) {
  Workspace workspace = MatricesOf(form);
  workspace.work = linear_algebra::WorkspaceOf(form).work;
  return workspace;
}

Workspace RealsOf(const Form& form) {
  Workspace workspace = WorkOf(form);
  workspace.reals = linear_algebra::WorkspaceOf(form).reals;
  return workspace;
}

// Calls `visit(row, column)` tile by tile.
template <typename Visit>
void ForEachElement(uint64_t rows, uint64_t columns, Visit visit) {
  for (uint64_t row0 = 0; row0 < rows; row0 += kTile) {
    for (uint64_t column0 = 0; column0 < columns; column0 += kTile) {
      for (uint64_t row = row0; row < std::min(rows, row0 + kTile); ++row) {
        for (uint64_t column = column0; column < std::min(columns, column0 + kTile); ++column) visit(row, column);
      }
    }
  }
}

}  // namespace

template <typename R>
ComplexMatrixCall<R>::ComplexMatrixCall(const ComplexLapackRoutines<R>& lapack, const Form& form)
    : lapack_(lapack),
      form_(form),
      m_(LapackInt(form.m)),
      n_(LapackInt(form.n)),
      k_(LapackInt(form.k)),
      lwork_(LapackInt(linear_algebra::WorkspaceOf(form).work)),
      lrwork_(LapackInt(linear_algebra::WorkspaceOf(form).reals)),
      liwork_(LapackInt(linear_algebra::WorkspaceOf(form).integers)),
      work_offset_(MatricesOf(form).Bytes(sizeof(R))),
      real_offset_(WorkOf(form).Bytes(sizeof(R))),
      integer_offset_(RealsOf(form).Bytes(sizeof(R))) {}

template <typename R>
std::complex<R>* ComplexMatrixCall<R>::Load(const MatrixTensors<R>& t, size_t real, uint64_t rows, uint64_t columns,
                                            C* to) const {
  const R* re = t.In(real);
  const R* im = t.In(real + 1);
  ForEachElement(rows, columns, [&](uint64_t row, uint64_t column) {
    to[column * rows + row] = C(re[row * columns + column], im[row * columns + column]);
  });
  return to + rows * columns;
}

template <typename R>
std::complex<R>* ComplexMatrixCall<R>::LoadElements(const MatrixTensors<R>& t, size_t real, uint64_t elements,
                                                    C* to) const {
  const R* re = t.In(real);
  const R* im = t.In(real + 1);
  for (uint64_t i = 0; i < elements; ++i) to[i] = C(re[i], im[i]);
  return to + elements;
}

template <typename R>
void ComplexMatrixCall<R>::Store(const MatrixTensors<R>& t, size_t real, uint64_t rows, uint64_t columns,
                                 const C* from) const {
  R* re = t.Out(real);
  R* im = t.Out(real + 1);
  ForEachElement(rows, columns, [&](uint64_t row, uint64_t column) {
    re[row * columns + column] = from[column * rows + row].real();
    im[row * columns + column] = from[column * rows + row].imag();
  });
}

template <typename R>
void ComplexMatrixCall<R>::StoreElements(const MatrixTensors<R>& t, size_t real, uint64_t elements,
                                         const C* from) const {
  R* re = t.Out(real);
  R* im = t.Out(real + 1);
  for (uint64_t i = 0; i < elements; ++i) {
    re[i] = from[i].real();
    im[i] = from[i].imag();
  }
}

template <typename R>
bool ComplexMatrixCall<R>::HasFiniteMatrix(const MatrixTensors<R>& t) const {
  return IsFinite(form_, t.In(0)) && IsFinite(form_, t.In(1));
}

template class ComplexMatrixCall<float>;
template class ComplexMatrixCall<double>;

}  // namespace sgd::cpu
