// One routine of LAPACK for one row-major matrix, as in the graph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/linear_algebra/form.h"
#include "targets/cpu/device/linear_algebra/lapack_library.h"

namespace sgd::cpu {

// Addresses of the tensors of one matrix, in the order of InputsOf and OutputsOf, and working memory as of WorkspaceOf.
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

// Runs the routine of a form's kind, each of which is a member of `Call` that takes the tensors.
template <typename Call, typename T>
class MatrixRoutines {
 public:
  void Run(const MatrixTensors<T>& t) const {
    using linear_algebra::Kind;
    const Call& call = static_cast<const Call&>(*this);
    switch (call.form().kind) {
      case Kind::kCholesky:
        return call.Cholesky(t);
      case Kind::kTriangularSolve:
        return call.TriangularSolve(t);
      case Kind::kLu:
        return call.Lu(t);
      case Kind::kQr:
        return call.Qr(t);
      case Kind::kPivotedQr:
        return call.PivotedQr(t);
      case Kind::kHouseholderProduct:
        return call.HouseholderProduct(t);
      case Kind::kHouseholderMultiply:
        return call.HouseholderMultiply(t);
      case Kind::kEigh:
        return call.Eigh(t);
      case Kind::kSvd:
        return call.Svd(t);
      case Kind::kEig:
        return call.Eig(t);
      case Kind::kSchur:
        return call.Schur(t);
      case Kind::kHessenberg:
        return call.Hessenberg(t);
      case Kind::kTridiagonal:
        return call.Tridiagonal(t);
      case Kind::kTridiagonalSolve:
        return call.TridiagonalSolve(t);
      case Kind::kFft:
      case Kind::kRealFft:
      case Kind::kInverseRealFft:
        return;  // fft.h has them
    }
  }
};

// Row-major matrices are transposed into working memory and back. Triangular solves and Cholesky factors need neither:
// a row-major matrix is its own transpose, column-major, and the transposed equation is one of the same kind.
template <typename T>
class MatrixCall : public MatrixRoutines<MatrixCall<T>, T> {
 public:
  // `form` is one of which WhyNot is empty.
  MatrixCall(const LapackRoutines<T>& lapack, const linear_algebra::Form& form);

  const linear_algebra::Form& form() const { return form_; }

 private:
  friend class MatrixRoutines<MatrixCall<T>, T>;

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
