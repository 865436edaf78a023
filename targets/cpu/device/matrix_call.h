// One routine of LAPACK for one matrix that lies row-major, as the graph has it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/linear_algebra/form.h"
#include "targets/cpu/device/lapack_library.h"

namespace sgd::cpu {

// Where the tensors of one matrix lie, in the order of InputsOf and OutputsOf, and working memory as WorkspaceOf says.
template <typename T>
struct MatrixTensors {
  std::array<const std::byte*, 8> inputs{};
  std::array<std::byte*, 7> outputs{};
  std::byte* workspace = nullptr;

  const T* In(size_t i) const { return reinterpret_cast<const T*>(inputs[i]); }
  T* Out(size_t i) const { return reinterpret_cast<T*>(outputs[i]); }
  const int* IntegersIn(size_t i) const { return reinterpret_cast<const int*>(inputs[i]); }
  int* IntegersOut(size_t i) const { return reinterpret_cast<int*>(outputs[i]); }
};

// Whether all elements of the main operand that `form` reads are finite; of a complex one each part by itself.
template <typename T>
bool IsFinite(const linear_algebra::Form& form, const T* row_major);

// Results of an operand that is not finite.
template <typename T>
void FillWithNan(const linear_algebra::Form& form, const MatrixTensors<T>& t);

// Row-major matrices are transposed into working memory and back. Triangular solves and Cholesky factors need neither:
// a row-major matrix is its own transpose, column-major, and the transposed equation is one of the same kind.
template <typename T>
class MatrixCall {
 public:
  // `form` is one of which WhyNot is empty.
  MatrixCall(const LapackRoutines<T>& lapack, const linear_algebra::Form& form);

  const linear_algebra::Form& form() const { return form_; }
  void Run(const MatrixTensors<T>& t) const;

 private:
  void Cholesky(const MatrixTensors<T>& t) const;
  void TriangularSolve(const MatrixTensors<T>& t) const;
  void Lu(const MatrixTensors<T>& t) const;
  void Qr(const MatrixTensors<T>& t) const;
  void PivotedQr(const MatrixTensors<T>& t) const;
  void HouseholderProduct(const MatrixTensors<T>& t) const;
  void HouseholderMultiply(const MatrixTensors<T>& t) const;
  void Eigh(const MatrixTensors<T>& t) const;
  void Svd(const MatrixTensors<T>& t) const;
  void Eig(const MatrixTensors<T>& t) const;
  void Schur(const MatrixTensors<T>& t) const;
  void Hessenberg(const MatrixTensors<T>& t) const;
  void Tridiagonal(const MatrixTensors<T>& t) const;
  void TridiagonalSolve(const MatrixTensors<T>& t) const;

  T* Work(const MatrixTensors<T>& t) const { return reinterpret_cast<T*>(t.workspace + work_offset_); }
  int* IntegerWork(const MatrixTensors<T>& t) const { return reinterpret_cast<int*>(t.workspace + integer_offset_); }
  // The main operand, column-major, at the start of the workspace.
  T* LoadMatrix(const MatrixTensors<T>& t) const;

  const LapackRoutines<T>& lapack_;
  const linear_algebra::Form form_;
  const int m_, n_, k_;
  const int lwork_, liwork_;
  const uint64_t work_offset_, integer_offset_;
};

extern template class MatrixCall<float>;
extern template class MatrixCall<double>;

}  // namespace sgd::cpu
