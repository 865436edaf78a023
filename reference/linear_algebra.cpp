// Semantics of sgd.linear_algebra on real and complex matrices. Signs and phases of vectors, and the order of
// eigenvalues of matrices that are not symmetric, are those of the algorithms here; tests compare only values that do
// not depend on them.
#include "dialects/sgd/linear_algebra.h"

#include <cmath>
#include <type_traits>

#include "reference/fourier.h"
#include "reference/matrices.h"
#include "reference/ops.h"
#include "reference/schur.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;
namespace la = ::sgd::linear_algebra;

namespace {

/// One matrix' part of the operands and results, in the order of InputsOf and OutputsOf: of complex ones both parts
/// at once.
template <typename T>
class Call {
 public:
  Call(const la::Form& form, Operands in, ArrayRef<Tensor*> out, int64_t matrix)
      : form(form), in(in), out(out), matrix(matrix), inputs(la::InputsOf(form)), outputs(la::OutputsOf(form)) {}

  MatrixOf<T> take() {
    const la::Tensor& tensor = inputs[taken];
    auto rows = static_cast<int64_t>(tensor.dims[0].size);
    int64_t columns = tensor.dims.size() == 2 ? static_cast<int64_t>(tensor.dims[1].size) : 1;
    MatrixOf<T> result(rows, columns);
    size_t first = matrix * result.elements.size();
    for (size_t i = 0; i < result.elements.size(); ++i) {
      if constexpr (std::is_same_v<T, ComplexNumber>)
        result.elements[i] = {in[taken]->floats[first + i], in[taken + 1]->floats[first + i]};
      else
        result.elements[i] = in[taken]->floats[first + i];
    }
    taken += std::is_same_v<T, ComplexNumber> ? 2 : 1;
    return result;
  }

  template <typename V>
  void put(const MatrixOf<V>& value) {
    put(value.elements);
  }
  void put(const std::vector<double>& values) { setReal(written++, values); }
  /// The real parts, and behind them the imaginary ones.
  void put(const std::vector<ComplexNumber>& values) {
    std::vector<double> real, imaginary;
    for (ComplexNumber value : values) real.push_back(value.real()), imaginary.push_back(value.imag());
    put(real);
    put(imaginary);
  }
  void putIntegers(const std::vector<int64_t>& values) { setIntegers(written++, values); }
  /// The last result.
  void setInfo(int64_t info) { setIntegers(outputs.size() - 1, {info}); }

  bool has(la::Option option) const { return form.Has(option); }
  MatrixOp getOp() const {
    return has(la::kConjugate) ? MatrixOp::Adjoint : has(la::kTranspose) ? MatrixOp::Transpose : MatrixOp::Itself;
  }

  void fillWithNan() {
    for (auto [index, tensor] : llvm::enumerate(outputs)) {
      if (tensor.is_integer)
        setIntegers(index, std::vector<int64_t>(tensor.Elements(), -1));
      else
        setReal(index, std::vector<double>(tensor.Elements(), std::nan("")));
    }
  }

  const la::Form form;

 private:
  void setReal(unsigned result, const std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i)
      out[result]->setFloat(static_cast<int64_t>(matrix * values.size() + i), values[i]);
  }
  void setIntegers(unsigned result, const std::vector<int64_t>& values) {
    for (size_t i = 0; i < values.size(); ++i)
      out[result]->setInteger(static_cast<int64_t>(matrix * values.size() + i), values[i]);
  }

  Operands in;
  ArrayRef<Tensor*> out;
  int64_t matrix;
  std::vector<la::Tensor> inputs, outputs;
  unsigned taken = 0, written = 0;
};

template <typename T>
void evaluateCholesky(Call<T>& call) {
  MatrixOf<T> a = call.take();
  call.setInfo(factorCholesky(a, call.has(la::kLower)));
  call.put(a);
}

/// x op(a) = b is op(a)^T x^T = b^T, and the transpose of the adjoint is the conjugate.
template <typename T>
void evaluateTriangularSolve(Call<T>& call) {
  MatrixOf<T> a = call.take(), b = call.take();
  MatrixOp op = call.getOp();
  bool isLower = call.has(la::kLower), isRight = call.has(la::kRight), hasUnitDiagonal = call.has(la::kUnitDiagonal);
  if (!isRight) {
    solveTriangular(a, isLower, op, hasUnitDiagonal, b);
    return call.put(b);
  }
  b = transpose(b);
  if (op == MatrixOp::Adjoint)
    for (T& element : a.elements) element = conjugate(element);
  solveTriangular(a, isLower, op == MatrixOp::Itself ? MatrixOp::Transpose : MatrixOp::Itself, hasUnitDiagonal, b);
  call.put(transpose(b));
}

template <typename T>
void evaluateLu(Call<T>& call) {
  MatrixOf<T> a = call.take();
  std::vector<int64_t> pivots;
  call.setInfo(factorLu(a, pivots));
  call.put(a);
  call.putIntegers(pivots);
}

template <typename T>
void evaluateQr(Call<T>& call) {
  MatrixOf<T> a = call.take();
  bool isPivoted = call.form.kind == la::Kind::kPivotedQr;
  std::vector<int64_t> columns(a.columns);
  for (int64_t i = 0; i < a.columns; ++i) columns[i] = i + 1;
  std::vector<T> taus = factorQr(a, isPivoted ? &columns : nullptr);
  call.put(a);
  if (isPivoted) call.putIntegers(columns);
  call.put(taus);
}

template <typename T>
void evaluateHouseholderProduct(Call<T>& call) {
  MatrixOf<T> reflectors = call.take(), q(reflectors.rows, reflectors.columns);
  for (int64_t i = 0; i < q.columns; ++i) q(i, i) = 1;
  multiplyReflectors(reflectors, call.take().elements, /*isAdjoint=*/false, q);
  call.put(q);
}

/// c q is (q^H c^H)^H.
template <typename T>
void evaluateHouseholderMultiply(Call<T>& call) {
  MatrixOf<T> reflectors = call.take();
  std::vector<T> taus = call.take().elements;
  MatrixOf<T> c = call.take();
  bool isRight = call.has(la::kRight);
  if (isRight) c = adjoint(c);
  multiplyReflectors(reflectors, taus, call.has(la::kTranspose) != isRight, c);
  call.put(isRight ? adjoint(c) : c);
}

template <typename T>
bool isFinite(const MatrixOf<T>& a) {
  return llvm::all_of(a.elements, [](T z) { return std::isfinite(realPart(z)) && std::isfinite(imaginaryPart(z)); });
}

/// The diagonal counts as real.
template <typename T>
void evaluateEigh(Call<T>& call) {
  MatrixOf<T> a = call.take();
  for (int64_t i = 0; i < a.rows; ++i) {
    a(i, i) = realPart(a(i, i));
    for (int64_t j = 0; j < i; ++j) call.has(la::kLower) ? a(j, i) = conjugate(a(i, j)) : a(i, j) = conjugate(a(j, i));
  }
  if (!isFinite(a)) return call.fillWithNan();
  std::vector<double> values = diagonalize(a);
  if (call.has(la::kVectors)) call.put(a);
  call.put(values);
  call.setInfo(0);
}

template <typename T>
void evaluateSvd(Call<T>& call) {
  MatrixOf<T> a = call.take(), u, v;
  if (!isFinite(a)) return call.fillWithNan();
  call.put(decomposeSingular(a, u, v));
  call.setInfo(0);
  if (!call.has(la::kVectors)) return;
  if (call.has(la::kFull)) completeBasis(u), completeBasis(v);
  call.put(u);
  call.put(adjoint(v));
}

template <typename T>
void evaluateEig(Call<T>& call) {
  MatrixOf<T> a = call.take();
  if (!isFinite(a)) return call.fillWithNan();
  ComplexMatrix complex(a.rows, a.columns);
  llvm::copy(a.elements, complex.elements.begin());
  Eigenvectors result = getEigenvectors(complex);
  if (!result.hasConverged) return call.fillWithNan(), call.setInfo(1);
  call.put(result.values);
  if (call.has(la::kLeftVectors)) call.put(result.left);
  if (call.has(la::kVectors)) call.put(result.right);
  call.setInfo(0);
}

template <typename T>
void evaluateSchur(Call<T>& call) {
  MatrixOf<T> a = call.take();
  if (!isFinite(a)) return call.fillWithNan();
  Schur<T> schur = decomposeSchur(a);
  if (!schur.hasConverged) return call.fillWithNan(), call.setInfo(1);
  call.put(schur.t);
  if (call.has(la::kVectors)) call.put(schur.z);
  call.put(schur.values);
  call.setInfo(0);
}

template <typename T>
void evaluateHessenberg(Call<T>& call) {
  MatrixOf<T> a = call.take();
  std::vector<T> taus = reduceToHessenberg(a);
  call.put(a);
  call.put(taus);
  call.setInfo(0);
}

template <typename T>
void evaluateTridiagonal(Call<T>& call) {
  MatrixOf<T> a = call.take();
  bool isLower = call.has(la::kLower);
  std::vector<T> taus = reduceToTridiagonal(a, isLower);
  std::vector<double> diagonal, offDiagonal;
  for (int64_t i = 0; i < a.rows; ++i) diagonal.push_back(realPart(a(i, i)));
  for (int64_t i = 0; i + 1 < a.rows; ++i) offDiagonal.push_back(realPart(isLower ? a(i + 1, i) : a(i, i + 1)));
  call.put(a);
  call.put(diagonal);
  call.put(offDiagonal);
  call.put(taus);
  call.setInfo(0);
}

/// By elimination in the full matrix.
template <typename T>
void evaluateTridiagonalSolve(Call<T>& call) {
  MatrixOf<T> lower = call.take(), diagonal = call.take(), upper = call.take(), b = call.take();
  MatrixOf<T> a(b.rows, b.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    a(i, i) = diagonal(i, 0);
    if (i > 0) a(i, i - 1) = lower(i, 0);
    if (i + 1 < a.rows) a(i, i + 1) = upper(i, 0);
  }
  std::vector<int64_t> pivots;
  call.setInfo(factorLu(a, pivots));
  for (size_t i = 0; i < pivots.size(); ++i)
    for (int64_t column = 0; column < b.columns; ++column)
      std::swap(b(static_cast<int64_t>(i), column), b(pivots[i] - 1, column));
  solveTriangular(a, /*isLower=*/true, MatrixOp::Itself, /*hasUnitDiagonal=*/true, b);
  solveTriangular(a, /*isLower=*/false, MatrixOp::Itself, /*hasUnitDiagonal=*/false, b);
  call.put(b);
}

template <typename T>
using Evaluation = void (*)(Call<T>&);

template <typename T>
Evaluation<T> getEvaluation(la::Kind kind) {
  switch (kind) {
    case la::Kind::kCholesky:
      return evaluateCholesky<T>;
    case la::Kind::kTriangularSolve:
      return evaluateTriangularSolve<T>;
    case la::Kind::kLu:
      return evaluateLu<T>;
    case la::Kind::kQr:
    case la::Kind::kPivotedQr:
      return evaluateQr<T>;
    case la::Kind::kHouseholderProduct:
      return evaluateHouseholderProduct<T>;
    case la::Kind::kHouseholderMultiply:
      return evaluateHouseholderMultiply<T>;
    case la::Kind::kEigh:
      return evaluateEigh<T>;
    case la::Kind::kSvd:
      return evaluateSvd<T>;
    case la::Kind::kEig:
      return evaluateEig<T>;
    case la::Kind::kSchur:
      return evaluateSchur<T>;
    case la::Kind::kHessenberg:
      return evaluateHessenberg<T>;
    case la::Kind::kTridiagonal:
      return evaluateTridiagonal<T>;
    case la::Kind::kTridiagonalSolve:
      return evaluateTridiagonalSolve<T>;
    case la::Kind::kFft:
    case la::Kind::kRealFft:
    case la::Kind::kInverseRealFft:
      return nullptr;  // fourier.h has them
  }
  return nullptr;
}

/// Each matrix of the batch by itself. Fails on kinds whose results only LAPACK has.
template <typename T>
LogicalResult evaluateBatch(LinearAlgebraOp call, const la::Form& form, Operands in, Results out) {
  Evaluation<T> evaluation = getEvaluation<T>(form.kind);
  if (!evaluation) return call.emitOpError("has no reference evaluation of ") << la::KindName(form.kind);
  int64_t batch = llvm::product_of(getLinearAlgebraBatch(call));
  for (int64_t matrix = 0; matrix < batch; ++matrix) {
    Call<T> one(form, in, out, matrix);
    evaluation(one);
  }
  return success();
}

LogicalResult evaluateLinearAlgebra(LinearAlgebraOp call, Operands in, Results out) {
  la::Form form = getLinearAlgebraForm(call);
  if (la::IsTransform(form.kind))
    return evaluateTransform(form, llvm::product_of(getLinearAlgebraBatch(call)), in, out), success();
  return form.Has(la::kComplex) ? evaluateBatch<ComplexNumber>(call, form, in, out)
                                : evaluateBatch<double>(call, form, in, out);
}

}  // namespace

void reference::addLinearAlgebra(Evaluations& evaluations) { evaluations.add<LinearAlgebraOp>(evaluateLinearAlgebra); }
