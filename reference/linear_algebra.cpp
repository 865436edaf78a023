// Each matrix of the batch by itself. Signs of eigenvectors and singular vectors, and the order of eigenvalues of
// matrices that are not symmetric, are those of the algorithms here; programs that are compared do not depend on them.
#include "reference/linear_algebra.h"

#include <cmath>

#include "reference/fourier.h"
#include "reference/matrices.h"
#include "reference/schur.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;
namespace la = ::sgd::linear_algebra;

namespace {

/// One matrix' part of the operands and results.
class Call {
 public:
  Call(const la::Form& form, Operands in, ArrayRef<Tensor*> out, int64_t matrix)
      : form(form), in(in), out(out), matrix(matrix), inputs(la::InputsOf(form)), outputs(la::OutputsOf(form)) {}

  Matrix get(unsigned operand) const {
    const la::Tensor& tensor = inputs[operand];
    auto rows = static_cast<int64_t>(tensor.dims[0].size);
    int64_t columns = tensor.dims.size() == 2 ? static_cast<int64_t>(tensor.dims[1].size) : 1;
    Matrix result(rows, columns);
    for (size_t i = 0; i < result.elements.size(); ++i)
      result.elements[i] = in[operand]->floats[matrix * result.elements.size() + i];
    return result;
  }

  void set(unsigned result, const Matrix& value) { set(result, value.elements); }
  void set(unsigned result, const std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i)
      out[result]->setFloat(static_cast<int64_t>(matrix * values.size() + i), values[i]);
  }
  /// The real parts, and behind them the imaginary ones.
  void setParts(unsigned result, const std::vector<ComplexNumber>& values) {
    std::vector<double> real, imaginary;
    for (ComplexNumber value : values) real.push_back(value.real()), imaginary.push_back(value.imag());
    set(result, real);
    set(result + 1, imaginary);
  }
  void setIntegers(unsigned result, const std::vector<int64_t>& values) {
    for (size_t i = 0; i < values.size(); ++i)
      out[result]->setInteger(static_cast<int64_t>(matrix * values.size() + i), values[i]);
  }
  void setInfo(int64_t info) { setIntegers(outputs.size() - 1, {info}); }

  bool has(la::Option option) const { return form.Has(option); }

  void fillWithNan() {
    for (auto [index, tensor] : llvm::enumerate(outputs)) {
      if (tensor.is_integer)
        setIntegers(index, std::vector<int64_t>(tensor.Elements(), -1));
      else
        set(index, std::vector<double>(tensor.Elements(), std::nan("")));
    }
  }

  const la::Form form;
  Operands in;
  ArrayRef<Tensor*> out;
  int64_t matrix;
  std::vector<la::Tensor> inputs, outputs;
};

void evaluateCholesky(Call& call) {
  Matrix a = call.get(0);
  call.setInfo(factorCholesky(a, call.has(la::kLower)));
  call.set(0, a);
}

/// x op(a) = b is op(a)^T x^T = b^T.
void evaluateTriangularSolve(Call& call) {
  Matrix a = call.get(0), b = call.get(1);
  bool isRight = call.has(la::kRight);
  if (isRight) b = transpose(b);
  solveTriangular(a, call.has(la::kLower), call.has(la::kTranspose) != isRight, call.has(la::kUnitDiagonal), b);
  call.set(0, isRight ? transpose(b) : b);
}

void evaluateLu(Call& call) {
  Matrix a = call.get(0);
  std::vector<int64_t> pivots;
  call.setInfo(factorLu(a, pivots));
  call.set(0, a);
  call.setIntegers(1, pivots);
}

void evaluateQr(Call& call) {
  Matrix a = call.get(0);
  bool isPivoted = call.form.kind == la::Kind::kPivotedQr;
  std::vector<int64_t> columns(a.columns);
  for (int64_t i = 0; i < a.columns; ++i) columns[i] = i + 1;
  std::vector<double> taus = factorQr(a, isPivoted ? &columns : nullptr);
  call.set(0, a);
  call.set(isPivoted ? 2 : 1, taus);
  if (isPivoted) call.setIntegers(1, columns);
}

void evaluateHouseholderProduct(Call& call) {
  Matrix reflectors = call.get(0), q(reflectors.rows, reflectors.columns);
  for (int64_t i = 0; i < q.columns; ++i) q(i, i) = 1;
  multiplyReflectors(reflectors, call.get(1).elements, /*isTransposed=*/false, q);
  call.set(0, q);
}

/// c q is (q^T c^T)^T.
void evaluateHouseholderMultiply(Call& call) {
  Matrix c = call.get(2);
  bool isRight = call.has(la::kRight);
  if (isRight) c = transpose(c);
  multiplyReflectors(call.get(0), call.get(1).elements, call.has(la::kTranspose) != isRight, c);
  call.set(0, isRight ? transpose(c) : c);
}

bool isFinite(const Matrix& a) {
  return llvm::all_of(a.elements, [](double element) { return std::isfinite(element); });
}

void evaluateEigh(Call& call) {
  Matrix a = call.get(0);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < i; ++j)
      (call.has(la::kLower) ? a(j, i) : a(i, j)) = call.has(la::kLower) ? a(i, j) : a(j, i);
  if (!isFinite(a)) return call.fillWithNan();
  std::vector<double> values = diagonalize(a);
  if (call.has(la::kVectors)) call.set(0, a);
  call.set(call.has(la::kVectors) ? 1 : 0, values);
  call.setInfo(0);
}

void evaluateSvd(Call& call) {
  Matrix a = call.get(0), u, v;
  if (!isFinite(a)) return call.fillWithNan();
  call.set(0, decomposeSingular(a, u, v));
  call.setInfo(0);
  if (!call.has(la::kVectors)) return;
  if (call.has(la::kFull)) completeBasis(u), completeBasis(v);
  call.set(1, u);
  call.set(2, transpose(v));
}

void evaluateEig(Call& call) {
  Matrix a = call.get(0);
  if (!isFinite(a)) return call.fillWithNan();
  ComplexMatrix complex(a.rows, a.columns);
  llvm::copy(a.elements, complex.elements.begin());
  Eigenvectors result = getEigenvectors(complex);
  if (!result.hasConverged) return call.fillWithNan(), call.setInfo(1);
  call.setParts(0, result.values);
  if (call.has(la::kLeftVectors)) call.setParts(2, result.left.elements);
  if (call.has(la::kVectors)) call.setParts(call.has(la::kLeftVectors) ? 4 : 2, result.right.elements);
  call.setInfo(0);
}

void evaluateSchur(Call& call) {
  Matrix a = call.get(0);
  if (!isFinite(a)) return call.fillWithNan();
  Schur<double> schur = decomposeSchur(a);
  if (!schur.hasConverged) return call.fillWithNan(), call.setInfo(1);
  call.set(0, schur.t);
  if (call.has(la::kVectors)) call.set(1, schur.z);
  call.setParts(call.has(la::kVectors) ? 2 : 1, schur.values);
  call.setInfo(0);
}

void evaluateHessenberg(Call& call) {
  Matrix a = call.get(0);
  call.set(1, reduceToHessenberg(a));
  call.set(0, a);
  call.setInfo(0);
}

void evaluateTridiagonal(Call& call) {
  Matrix a = call.get(0);
  bool isLower = call.has(la::kLower);
  call.set(3, reduceToTridiagonal(a, isLower));
  std::vector<double> diagonal, offDiagonal;
  for (int64_t i = 0; i < a.rows; ++i) diagonal.push_back(a(i, i));
  for (int64_t i = 0; i + 1 < a.rows; ++i) offDiagonal.push_back(isLower ? a(i + 1, i) : a(i, i + 1));
  call.set(0, a);
  call.set(1, diagonal);
  call.set(2, offDiagonal);
  call.setInfo(0);
}

/// By elimination in the full matrix.
void evaluateTridiagonalSolve(Call& call) {
  Matrix lower = call.get(0), diagonal = call.get(1), upper = call.get(2), b = call.get(3);
  Matrix a(b.rows, b.rows);
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
  solveTriangular(a, /*isLower=*/true, false, /*hasUnitDiagonal=*/true, b);
  solveTriangular(a, /*isLower=*/false, false, /*hasUnitDiagonal=*/false, b);
  call.set(0, b);
}

using Evaluation = void (*)(Call&);

Evaluation getEvaluation(la::Kind kind) {
  switch (kind) {
    case la::Kind::kCholesky:
      return evaluateCholesky;
    case la::Kind::kTriangularSolve:
      return evaluateTriangularSolve;
    case la::Kind::kLu:
      return evaluateLu;
    case la::Kind::kQr:
    case la::Kind::kPivotedQr:
      return evaluateQr;
    case la::Kind::kHouseholderProduct:
      return evaluateHouseholderProduct;
    case la::Kind::kHouseholderMultiply:
      return evaluateHouseholderMultiply;
    case la::Kind::kEigh:
      return evaluateEigh;
    case la::Kind::kSvd:
      return evaluateSvd;
    case la::Kind::kEig:
      return evaluateEig;
    case la::Kind::kSchur:
      return evaluateSchur;
    case la::Kind::kHessenberg:
      return evaluateHessenberg;
    case la::Kind::kTridiagonal:
      return evaluateTridiagonal;
    case la::Kind::kTridiagonalSolve:
      return evaluateTridiagonalSolve;
    case la::Kind::kFft:
    case la::Kind::kRealFft:
    case la::Kind::kInverseRealFft:
      return nullptr;  // fourier.h has them
  }
  return nullptr;
}

}  // namespace

/// Fails on kinds whose results only LAPACK has.
static LogicalResult evaluateLinearAlgebra(LinearAlgebraOp call, Operands in, Results out) {
  la::Form form = getLinearAlgebraForm(call);
  if (la::IsTransform(form.kind))
    return evaluateTransform(form, llvm::product_of(getLinearAlgebraBatch(call)), in, out), success();
  if (form.Has(la::kComplex)) return evaluateComplexLinearAlgebra(call, in, out);
  Evaluation evaluation = getEvaluation(form.kind);
  if (!evaluation) return call.emitOpError("has no reference evaluation of ") << la::KindName(form.kind);
  int64_t batch = llvm::product_of(getLinearAlgebraBatch(call));
  for (int64_t matrix = 0; matrix < batch; ++matrix) {
    Call one(form, in, out, matrix);
    evaluation(one);
  }
  return success();
}

void reference::addLinearAlgebra(Evaluations& evaluations) { evaluations.add<LinearAlgebraOp>(evaluateLinearAlgebra); }
