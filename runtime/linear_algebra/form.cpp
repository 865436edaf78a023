// Tensors of each kind, and what there is not; workspace.cpp has sizes of working memory.
#include "runtime/linear_algebra/form.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/linear_algebra/transform.h"

namespace sgd::linear_algebra {
namespace {

struct KindInfo {
  const char* name;
  Operands operands;  // of real matrices, and of separate real and imaginary parts
  uint32_t options;   // of matrices beside kComplex
};

constexpr std::array<KindInfo, kNumKinds> kKinds = {{
    {"cholesky", {1, 0, -1}, kLower},
    {"triangular_solve", {2, 1, -1}, kLower | kRight | kTranspose | kUnitDiagonal | kConjugate},
    {"lu", {1, 0, -1}, 0},
    {"qr", {1, 0, -1}, 0},
    {"pivoted_qr", {2, 0, -1}, 0},
    {"householder_product", {2, 0, 1}, 0},
    {"householder_multiply", {3, 2, 1}, kRight | kTranspose | kConjugate},
    {"eigh", {1, 0, -1}, kLower | kVectors},
    {"svd", {1, 0, -1}, kVectors | kFull | kQrIteration},
    {"eig", {1, 0, -1}, kVectors | kLeftVectors},
    {"schur", {1, 0, -1}, kVectors},
    {"hessenberg", {1, 0, -1}, 0},
    {"tridiagonal", {1, 0, -1}, kLower},
    {"tridiagonal_solve", {4, 3, -1}, 0},
    {"fft", {2, 0, -1}, kInverse | kTwoDims | kThreeDims | kPairedOperand | kPairedResult},
    {"real_fft", {1, 0, -1}, kTwoDims | kThreeDims | kPairedResult},
    {"inverse_real_fft", {2, 0, -1}, kOddLength | kTwoDims | kThreeDims | kPairedOperand},
}};

const KindInfo& InfoOf(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

// The tensors of a call, of which it takes the imaginary parts where it has them.
class TensorList {
 public:
  explicit TensorList(const Form& form) : is_complex_(form.Has(kComplex)) {}

  TensorList& Matrix(const char* name, Dim rows, Dim columns) { return Add(name, {rows, columns}, is_complex_); }
  TensorList& Vector(const char* name, uint64_t size) { return Add(name, {{size}}, is_complex_); }
  // Real or complex whatever the matrices are.
  TensorList& RealVector(const char* name, uint64_t size) { return Add(name, {{size}}, false); }
  TensorList& ComplexVector(const char* name, uint64_t size) { return Add(name, {{size}}, true); }
  TensorList& ComplexMatrix(const char* name, uint64_t rows, uint64_t columns) {
    return Add(name, {{rows}, {columns}}, true);
  }
  TensorList& Integers(const char* name, uint64_t size) {
    tensors_.push_back({name, {{size}}, /*is_integer=*/true});
    return *this;
  }
  TensorList& Info() {
    tensors_.push_back({"info", {}, /*is_integer=*/true});
    return *this;
  }

  std::vector<Tensor> Take() { return std::move(tensors_); }

 private:
  TensorList& Add(const std::string& name, std::vector<Dim> dims, bool is_complex) {
    tensors_.push_back({is_complex ? "real " + name : name, dims});
    if (is_complex) tensors_.push_back({"imaginary " + name, std::move(dims), false, /*is_imaginary=*/true});
    return *this;
  }

  const bool is_complex_;
  std::vector<Tensor> tensors_;
};

bool IsSquare(Kind kind) {
  switch (kind) {
    case Kind::kCholesky:
    case Kind::kEigh:
    case Kind::kEig:
    case Kind::kSchur:
    case Kind::kHessenberg:
    case Kind::kTridiagonal:
      return true;
    default:
      return false;
  }
}

// The main operand of a solver: its other dimension is free.
void AddRightHandSide(const char* name, const Form& form, TensorList& list) {
  const bool is_right = form.Has(kRight);
  list.Matrix(name, {form.m, is_right}, {form.n, !is_right});
}

void AddSvdOutputs(const Form& form, TensorList& list) {
  list.RealVector("values", form.p());
  if (!form.Has(kVectors)) return;
  list.Matrix("u", {form.m}, {form.Has(kFull) ? form.m : form.p()});
  list.Matrix("vt", {form.Has(kFull) ? form.n : form.p()}, {form.n});
}

void AddEigOutputs(const Form& form, TensorList& list) {
  list.ComplexVector("values", form.n);
  if (form.Has(kLeftVectors)) list.ComplexMatrix("left vectors", form.n, form.n);
  if (form.Has(kVectors)) list.ComplexMatrix("vectors", form.n, form.n);
}

bool HasZeroSize(const Form& form) {
  const bool has_reflectors = InfoOf(form.kind).operands.reflectors >= 0;
  return form.m == 0 || form.n == 0 || (has_reflectors && form.k == 0);
}

}  // namespace

uint64_t Tensor::Elements() const {
  uint64_t elements = 1;
  for (const Dim& dim : dims) elements *= dim.size;
  return elements;
}

const char* KindName(Kind kind) { return InfoOf(kind).name; }

uint32_t DimsOf(Kind kind, uint32_t options) {
  if (!IsTransform(kind)) return 2;
  return 1 + ((options & kTwoDims) != 0 ? 1 : 0) + ((options & kThreeDims) != 0 ? 2 : 0);
}

Operands OperandsOf(Kind kind, uint32_t options) {
  Operands operands = InfoOf(kind).operands;
  if ((options & kPairedOperand) != 0) operands.count = 1;
  if ((options & kComplex) == 0) return operands;
  // Each operand is two, but for the pivots, which come last.
  operands.count = operands.count * 2 - (kind == Kind::kPivotedQr ? 1 : 0);
  operands.main *= 2;
  if (operands.reflectors >= 0) operands.reflectors *= 2;
  return operands;
}

std::vector<Tensor> InputsOf(const Form& form) {
  const Dim m{form.m}, n{form.n};
  TensorList list(form);
  switch (form.kind) {
    case Kind::kTriangularSolve:
      list.Matrix("a", {form.other()}, {form.other()});
      AddRightHandSide("b", form, list);
      break;
    case Kind::kPivotedQr:
      list.Matrix("a", m, n).Integers("pivots", form.n);
      break;
    case Kind::kHouseholderProduct:
      list.Matrix("reflectors", m, n).Vector("taus", form.k);
      break;
    case Kind::kHouseholderMultiply:
      list.Matrix("reflectors", {form.other()}, {form.k}).Vector("taus", form.k);
      AddRightHandSide("c", form, list);
      break;
    case Kind::kTridiagonalSolve:
      list.Vector("lower diagonal", form.m).Vector("diagonal", form.m).Vector("upper diagonal", form.m);
      AddRightHandSide("b", form, list);
      break;
    case Kind::kFft:
      return TransformTensors(form, form.n, /*is_real=*/false, form.Has(kPairedOperand));
    case Kind::kRealFft:
      return TransformTensors(form, form.n, /*is_real=*/true, false);
    case Kind::kInverseRealFft:
      return TransformTensors(form, form.n / 2 + 1, /*is_real=*/false, form.Has(kPairedOperand));
    default:
      list.Matrix("a", m, n);
  }
  return list.Take();
}

std::vector<Tensor> OutputsOf(const Form& form) {
  const Dim m{form.m}, n{form.n};
  const uint64_t between = form.n == 0 ? 0 : form.n - 1;
  TensorList list(form);
  switch (form.kind) {
    case Kind::kCholesky:
      return list.Matrix("factor", n, n).Info().Take();
    case Kind::kTriangularSolve:
    case Kind::kHouseholderMultiply:
      AddRightHandSide("x", form, list);
      return list.Take();
    case Kind::kLu:
      return list.Matrix("lu", m, n).Integers("pivots", form.p()).Info().Take();
    case Kind::kQr:
      return list.Matrix("qr", m, n).Vector("taus", form.p()).Take();
    case Kind::kPivotedQr:
      return list.Matrix("qr", m, n).Integers("pivots", form.n).Vector("taus", form.p()).Take();
    case Kind::kHouseholderProduct:
      return list.Matrix("q", m, n).Take();
    case Kind::kEigh:
      if (form.Has(kVectors)) list.Matrix("vectors", n, n);
      return list.RealVector("values", form.n).Info().Take();
    case Kind::kSvd:
      AddSvdOutputs(form, list);
      return list.Info().Take();
    case Kind::kEig:
      AddEigOutputs(form, list);
      return list.Info().Take();
    case Kind::kSchur:
      list.Matrix("t", n, n);
      if (form.Has(kVectors)) list.Matrix("vectors", n, n);
      return list.ComplexVector("values", form.n).Info().Take();
    case Kind::kHessenberg:
      return list.Matrix("h", n, n).Vector("taus", between).Info().Take();
    case Kind::kTridiagonal:
      list.Matrix("reflectors", n, n).RealVector("diagonal", form.n).RealVector("off-diagonal", between);
      return list.Vector("taus", between).Info().Take();
    case Kind::kTridiagonalSolve:
      AddRightHandSide("x", form, list);
      return list.Info().Take();
    case Kind::kFft:
      return TransformTensors(form, form.n, /*is_real=*/false, form.Has(kPairedResult));
    case Kind::kRealFft:
      return TransformTensors(form, form.n / 2 + 1, /*is_real=*/false, form.Has(kPairedResult));
    case Kind::kInverseRealFft:
      return TransformTensors(form, form.n, /*is_real=*/true, false);
  }
  return {};
}

std::string WhyNot(const Form& form) {
  const std::string name = KindName(form.kind);
  const uint32_t options = InfoOf(form.kind).options | (IsTransform(form.kind) ? 0u : uint32_t{kComplex});
  if ((form.options & ~options) != 0) return name + " with options that it has not";
  if (IsTransform(form.kind)) return WhyNoTransform(form);
  if (form.Has(kConjugate) && !(form.Has(kComplex) && form.Has(kTranspose)))
    return name + " of the conjugate of a matrix that is not complex and transposed";
  if (form.kind == Kind::kHouseholderMultiply && form.Has(kComplex) && form.Has(kTranspose) != form.Has(kConjugate))
    return name + " of the transpose of a complex matrix, not of its conjugate";
  if (form.Has(kFull) && !form.Has(kVectors)) return name + " of full vectors without vectors";
  if (HasZeroSize(form)) return name + " of an empty matrix";
  if (IsSquare(form.kind) && form.m != form.n)
    return name + " of " + std::to_string(form.m) + " rows and " + std::to_string(form.n) + " columns, not a square";
  if (form.kind == Kind::kHouseholderProduct && (form.k > form.n || form.n > form.m))
    return name + " of more reflectors than columns, or more columns than rows";
  if (form.kind == Kind::kHouseholderMultiply && form.k > form.other())
    return name + " of more reflectors than they have rows";
  // Sizes alone first: products of larger ones would overflow.
  if (form.m > kMostElements || form.n > kMostElements || form.k > kMostElements || form.m * form.n > kMostElements ||
      form.other() * form.other() > kMostElements)
    return name + " of matrices with more than 2^31 - 1 elements";
  const Workspace workspace = WorkspaceOf(form);
  if (workspace.work > kMostElements || workspace.matrices > 4 * kMostElements || workspace.reals > kMostElements ||
      workspace.integers > kMostElements)
    return name + " with more than 2^31 - 1 elements of working memory";
  return "";
}

}  // namespace sgd::linear_algebra
