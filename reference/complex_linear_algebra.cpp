// Each complex matrix of the batch by itself, from parts to parts. Phases of vectors, and the order of eigenvalues of
// matrices that are not Hermitian, are those of the algorithms here; programs that are compared do not depend on them.
#include <cmath>

#include "reference/complex_matrices.h"
#include "reference/linear_algebra.h"
#include "reference/schur.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;
namespace la = ::sgd::linear_algebra;

namespace {

/// One matrix' part of the operands and results; positions are those of real parts.
class ComplexCall {
 public:
  ComplexCall(const la::Form& form, Operands in, ArrayRef<Tensor*> out, int64_t matrix)
      : form(form), in(in), out(out), matrix(matrix), inputs(la::InputsOf(form)), outputs(la::OutputsOf(form)) {}

  ComplexMatrix get(unsigned operand) const {
    const la::Tensor& tensor = inputs[operand];
    auto rows = static_cast<int64_t>(tensor.dims[0].size);
    int64_t columns = tensor.dims.size() == 2 ? static_cast<int64_t>(tensor.dims[1].size) : 1;
    ComplexMatrix result(rows, columns);
    size_t size = result.elements.size();
    for (size_t i = 0; i < size; ++i)
      result.elements[i] = {in[operand]->floats[matrix * size + i], in[operand + 1]->floats[matrix * size + i]};
    return result;
  }

  void set(unsigned result, const ComplexMatrix& value) { set(result, value.elements); }
  void set(unsigned result, const std::vector<ComplexNumber>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      out[result]->setFloat(static_cast<int64_t>(matrix * values.size() + i), values[i].real());
      out[result + 1]->setFloat(static_cast<int64_t>(matrix * values.size() + i), values[i].imag());
    }
  }
  void setReal(unsigned result, const std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i)
      out[result]->setFloat(static_cast<int64_t>(matrix * values.size() + i), values[i]);
  }
  void setIntegers(unsigned result, const std::vector<int64_t>& values) {
    for (size_t i = 0; i < values.size(); ++i)
      out[result]->setInteger(static_cast<int64_t>(matrix * values.size() + i), values[i]);
  }
  void setInfo(int64_t info) { setIntegers(outputs.size() - 1, {info}); }

  bool has(la::Option option) const { return form.Has(option); }
  ComplexOf getOp() const {
    return has(la::kConjugate) ? ComplexOf::Adjoint : has(la::kTranspose) ? ComplexOf::Transpose : ComplexOf::Itself;
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
  Operands in;
  ArrayRef<Tensor*> out;
  int64_t matrix;
  std::vector<la::Tensor> inputs, outputs;
};

void evaluateCholesky(ComplexCall& call) {
  ComplexMatrix a = call.get(0);
  call.setInfo(factorCholesky(a, call.has(la::kLower)));
  call.set(0, a);
}

/// x op(a) = b is op(a)^T x^T = b^T, and the transpose of the adjoint is the conjugate.
void evaluateTriangularSolve(ComplexCall& call) {
  ComplexMatrix a = call.get(0), b = call.get(2);
  ComplexOf op = call.getOp();
  bool isLower = call.has(la::kLower), isRight = call.has(la::kRight), hasUnitDiagonal = call.has(la::kUnitDiagonal);
  if (!isRight) {
    solveTriangular(a, isLower, op, hasUnitDiagonal, b);
    return call.set(0, b);
  }
  b = transpose(b);
  if (op == ComplexOf::Adjoint)
    for (ComplexNumber& element : a.elements) element = std::conj(element);
  solveTriangular(a, isLower, op == ComplexOf::Itself ? ComplexOf::Transpose : ComplexOf::Itself, hasUnitDiagonal, b);
  call.set(0, transpose(b));
}

void evaluateLu(ComplexCall& call) {
  ComplexMatrix a = call.get(0);
  std::vector<int64_t> pivots;
  call.setInfo(factorLu(a, pivots));
  call.set(0, a);
  call.setIntegers(2, pivots);
}

void evaluateQr(ComplexCall& call) {
  ComplexMatrix a = call.get(0);
  bool isPivoted = call.form.kind == la::Kind::kPivotedQr;
  std::vector<int64_t> columns(a.columns);
  for (int64_t i = 0; i < a.columns; ++i) columns[i] = i + 1;
  std::vector<ComplexNumber> taus = factorQr(a, isPivoted ? &columns : nullptr);
  call.set(0, a);
  call.set(isPivoted ? 3 : 2, taus);
  if (isPivoted) call.setIntegers(2, columns);
}

void evaluateHouseholderProduct(ComplexCall& call) {
  ComplexMatrix reflectors = call.get(0), q(reflectors.rows, reflectors.columns);
  for (int64_t i = 0; i < q.columns; ++i) q(i, i) = 1;
  multiplyReflectors(reflectors, call.get(2).elements, /*isAdjoint=*/false, q);
  call.set(0, q);
}

/// c q is (q^H c^H)^H.
void evaluateHouseholderMultiply(ComplexCall& call) {
  ComplexMatrix c = call.get(4);
  bool isRight = call.has(la::kRight);
  if (isRight) c = adjoint(c);
  multiplyReflectors(call.get(0), call.get(2).elements, call.has(la::kTranspose) != isRight, c);
  call.set(0, isRight ? adjoint(c) : c);
}

bool isFinite(const ComplexMatrix& a) {
  return llvm::all_of(a.elements, [](ComplexNumber z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); });
}

/// The diagonal counts as real.
void evaluateEigh(ComplexCall& call) {
  ComplexMatrix a = call.get(0);
  for (int64_t i = 0; i < a.rows; ++i) {
    a(i, i) = a(i, i).real();
    for (int64_t j = 0; j < i; ++j) call.has(la::kLower) ? a(j, i) = std::conj(a(i, j)) : a(i, j) = std::conj(a(j, i));
  }
  if (!isFinite(a)) return call.fillWithNan();
  std::vector<double> values = diagonalize(a);
  if (call.has(la::kVectors)) call.set(0, a);
  call.setReal(call.has(la::kVectors) ? 2 : 0, values);
  call.setInfo(0);
}

void evaluateSvd(ComplexCall& call) {
  ComplexMatrix a = call.get(0), u, v;
  if (!isFinite(a)) return call.fillWithNan();
  call.setReal(0, decomposeSingular(a, u, v));
  call.setInfo(0);
  if (!call.has(la::kVectors)) return;
  if (call.has(la::kFull)) completeBasis(u), completeBasis(v);
  call.set(1, u);
  call.set(3, adjoint(v));
}

void evaluateEig(ComplexCall& call) {
  ComplexMatrix a = call.get(0);
  if (!isFinite(a)) return call.fillWithNan();
  Eigenvectors result = getEigenvectors(a);
  if (!result.hasConverged) return call.fillWithNan(), call.setInfo(1);
  call.set(0, result.values);
  if (call.has(la::kLeftVectors)) call.set(2, result.left);
  if (call.has(la::kVectors)) call.set(call.has(la::kLeftVectors) ? 4 : 2, result.right);
  call.setInfo(0);
}

void evaluateSchur(ComplexCall& call) {
  ComplexMatrix a = call.get(0);
  if (!isFinite(a)) return call.fillWithNan();
  Schur<ComplexNumber> schur = decomposeSchur(a);
  if (!schur.hasConverged) return call.fillWithNan(), call.setInfo(1);
  call.set(0, schur.t);
  if (call.has(la::kVectors)) call.set(2, schur.z);
  call.set(call.has(la::kVectors) ? 4 : 2, schur.values);
  call.setInfo(0);
}

void evaluateHessenberg(ComplexCall& call) {
  ComplexMatrix a = call.get(0);
  call.set(2, reduceToHessenberg(a));
  call.set(0, a);
  call.setInfo(0);
}

void evaluateTridiagonal(ComplexCall& call) {
  ComplexMatrix a = call.get(0);
  bool isLower = call.has(la::kLower);
  call.set(4, reduceToTridiagonal(a, isLower));
  std::vector<double> diagonal, offDiagonal;
  for (int64_t i = 0; i < a.rows; ++i) diagonal.push_back(a(i, i).real());
  for (int64_t i = 0; i + 1 < a.rows; ++i) offDiagonal.push_back((isLower ? a(i + 1, i) : a(i, i + 1)).real());
  call.set(0, a);
  call.setReal(2, diagonal);
  call.setReal(3, offDiagonal);
  call.setInfo(0);
}

/// By elimination in the full matrix.
void evaluateTridiagonalSolve(ComplexCall& call) {
  ComplexMatrix lower = call.get(0), diagonal = call.get(2), upper = call.get(4), b = call.get(6);
  ComplexMatrix a(b.rows, b.rows);
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
  solveTriangular(a, /*isLower=*/true, ComplexOf::Itself, /*hasUnitDiagonal=*/true, b);
  solveTriangular(a, /*isLower=*/false, ComplexOf::Itself, /*hasUnitDiagonal=*/false, b);
  call.set(0, b);
}

using Evaluation = void (*)(ComplexCall&);

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

LogicalResult reference::evaluateComplexLinearAlgebra(LinearAlgebraOp op, Operands in, Results out) {
  la::Form form = getLinearAlgebraForm(op);
  Evaluation evaluation = getEvaluation(form.kind);
  if (!evaluation) return op.emitOpError("has no reference evaluation of complex ") << la::KindName(form.kind);
  int64_t batch = llvm::product_of(getLinearAlgebraBatch(op));
  for (int64_t matrix = 0; matrix < batch; ++matrix) {
    ComplexCall call(form, in, out, matrix);
    evaluation(call);
  }
  return success();
}
