// Factorizations and solvers. Gradients of complex matrices hold those of real and imaginary parts, so where a real
// matrix is transposed a complex one is conjugated too. A routine reads one triangle of its matrix; the gradient of the
// other triangle is zero.
#include "passes/graph/autodiff/derivative_rule.h"
#include "passes/graph/autodiff/linear_algebra_call.h"

using namespace mlir;
using namespace mlir::sgd;
namespace la = ::sgd::linear_algebra;

LinearAlgebraCall::LinearAlgebraCall(LinearAlgebraOp op, ArrayRef<Value> gradients, Pullback& pullback)
    : op(op),
      options(getLinearAlgebraOptions(op)),
      pullback(pullback),
      math(pullback.math),
      gradients(gradients),
      operands(findPlaces(la::InputsOf(getLinearAlgebraForm(op)))),
      results(findPlaces(la::OutputsOf(getLinearAlgebraForm(op)))) {}

LinearAlgebraCall::Places LinearAlgebraCall::findPlaces(ArrayRef<la::Tensor> tensors) {
  Places places;
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (!tensor.is_imaginary) places.emplace_back(index, index + 1 < tensors.size() && tensors[index + 1].is_imaginary);
  return places;
}

Matrix LinearAlgebraCall::gradient(unsigned number) {
  Matrix gradient = get(gradients, results, number), result = this->result(number);
  if (!gradient) return {};
  if (!gradient.re) gradient.re = pullback.getZeros(result.re);
  if (result.im && !gradient.im) gradient.im = pullback.getZeros(result.im);
  return gradient;
}

SmallVector<Value> LinearAlgebraCall::getGradients() {
  return llvm::map_to_vector(llvm::zip(op.getResults(), gradients), [&](auto pair) {
    auto [result, gradient] = pair;
    return gradient ? gradient : pullback.getZeros(result);
  });
}

void LinearAlgebraCall::add(unsigned operand, Matrix gradient) {
  Matrix value = this->operand(operand);
  pullback.add(value.re, gradient.re);
  if (value.im) pullback.add(value.im, gradient.im);
}

LinearAlgebraCall LinearAlgebraCall::replace(uint32_t options, ArrayRef<unsigned> results) {
  OpBuilder before(op);
  LinearAlgebraOp more = createLinearAlgebra(before, op.getLoc(), op.getKind(), options, op.getInputs());
  for (NamedAttribute attribute : op->getDiscardableAttrs()) more->setAttr(attribute.getName(), attribute.getValue());
  SmallVector<Value> moved(more->getNumResults());
  for (auto [from, to] : llvm::enumerate(results)) {
    op->getResult(from).replaceAllUsesWith(more->getResult(to));
    moved[to] = gradients[from];
  }
  op.erase();
  return LinearAlgebraCall(more, moved, pullback);
}

namespace {

/// With a = l l^T, both sides varied: inverse(l)^T phi(l^T g) inverse(l), symmetric, where phi is the lower triangle
/// with half of its diagonal (Murray, "Differentiation of the Cholesky decomposition", 2016).
LogicalResult pullCholesky(LinearAlgebraCall& call) {
  MatrixMath& m = call.math;
  Matrix g = call.gradient(0);
  bool isLower = call.has(la::kLower);
  Matrix factor = m.triangle(call.result(0), isLower), own = m.triangle(g, isLower);
  if (!isLower) factor = m.adjoint(factor), own = m.adjoint(own);
  Matrix inner = m.scaleRealDiagonal(m.triangle(m.multiply(m.adjoint(factor), own), true), 0.5);
  Matrix left = m.solve(factor, inner, la::kLower | MatrixMath::adjointOptions(factor));
  Matrix both = m.solve(factor, left, la::kLower | la::kRight);
  Matrix gradient = m.scaleRealDiagonal(m.triangle(m.addAdjoint(both), true), 0.5);
  if (!isLower) gradient = m.adjoint(gradient);
  // The result's other triangle is that of the operand.
  call.add(0, m.add(gradient, m.triangle(g, !isLower, /*withDiagonal=*/false)));
  return success();
}

LogicalResult pullTriangularSolve(LinearAlgebraCall& call) {
  MatrixMath& m = call.math;
  Matrix a = call.operand(0), x = call.result(0), g = call.gradient(0);
  bool isRight = call.has(la::kRight), isTransposed = call.has(la::kTranspose), isConjugate = call.has(la::kConjugate);
  // The adjoint of a transposed complex matrix is its conjugate, for which there is no option.
  bool isConjugated = a.im && isTransposed && !isConjugate;
  uint32_t options = call.options & ~(la::kTranspose | la::kConjugate | la::kComplex);
  if (!isTransposed) options |= MatrixMath::adjointOptions(a);
  Matrix own = m.solve(isConjugated ? m.conjugate(a) : a, g, options);
  call.add(1, own);
  if (!call.wants(0)) return success();
  // Of op(a): -own x^T, or -x^T own where it stands right.
  Matrix outer = isRight ? m.multiply(m.adjoint(x), own) : m.multiply(own, m.adjoint(x));
  if (isTransposed) outer = isConjugate ? m.adjoint(outer) : m.transpose(outer);
  call.add(0, m.minus(m.triangle(outer, call.has(la::kLower), !call.has(la::kUnitDiagonal))));
  return success();
}

/// Rows of the operand by rows of the factors' product: `pivots`, counted from 1, exchange rows 0, 1, ... of `rows`.
Value getRowOrder(TensorMath& math, Value pivots, int64_t rows) {
  RankedTensorType type = tensorType(pivots);
  SmallVector<int64_t> shape(type.getShape().drop_back()), vector(shape);
  vector.push_back(rows);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  auto trip = [&](OpBuilder& builder, ValueRange iterArgs) -> SmallVector<Value> {
    TensorMath m(builder, math.getLoc());
    Value index = iterArgs[0], order = iterArgs[1], pivots = iterArgs[2];
    auto isAt = [&](Value like, Value position, ArrayRef<int64_t> dims) {
      return m.isEqual(m.iota(shapeOf(like), tensorType(like).getRank() - 1),
                       m.broadcast(position, dims, shapeOf(like)));
    };
    auto read = [&](Value from, Value isThere) {
      Value zero = m.splat(tensorType(from), int64_t{0});
      return m.reduce(m.select(isThere, from, zero), ReduceKind::Add, tensorType(from).getRank() - 1);
    };
    Value pivot = read(pivots, isAt(pivots, index, {}));
    pivot = m.subtract(pivot, m.splat(tensorType(pivot), int64_t{1}));
    Value isFirst = isAt(order, index, {}), isSecond = isAt(order, pivot, dims);
    auto spread = [&](Value value) { return m.broadcast(value, dims, shapeOf(order)); };
    Value first = spread(read(order, isFirst)), second = spread(read(order, isSecond));
    Value next = m.select(isFirst, second, m.select(isSecond, first, order));
    return {m.add(index, m.index(1)), next, pivots};
  };
  SmallVector<Value> inits = {math.index(0), math.iota(vector, static_cast<int64_t>(shape.size())), pivots};
  auto loop = WhileOp::create(math.getBuilder(), math.getLoc(), inits, type.getShape().back(), trip);
  return loop.getResult(1);
}

/// Of l u, the rows of a in another order; l and u are completed to squares by ones on the diagonal (de Hoog, Anderssen
/// and Lukas, "Differentiation of matrix functionals using triangular factorization", 2011).
LogicalResult pullLu(LinearAlgebraCall& call) {
  MatrixMath& m = call.math;
  Matrix lu = call.result(0), g = call.gradient(0);
  int64_t rows = lu.rows(), columns = lu.columns(), inner = std::min(rows, columns);
  Matrix lower = m.resize(m.triangle(m.resize(lu, rows, inner), true, false), rows, rows);
  lower.re = m.onDiagonal(lower.re, m.math.splat(tensorType(lower.re), 1.0), lower.re);
  Matrix upper = m.resize(m.triangle(m.resize(lu, inner, columns), false), columns, columns);
  if (columns > inner) {
    RankedTensorType type = tensorType(upper.re);
    Value number = m.math.iota(type.getShape(), type.getRank() - 1);
    Value isBehind = m.math.isAtLeast(number, m.math.splat(tensorType(number), inner));
    Value ones = m.math.select(isBehind, m.math.splat(type, 1.0), upper.re);
    upper.re = m.onDiagonal(upper.re, ones, upper.re);
  }
  Matrix ofLower = m.triangle(m.multiply(m.adjoint(lower), m.triangle(g, true, false)), true, false);
  Matrix ofUpper = m.triangle(m.multiply(m.triangle(g, false), m.adjoint(upper)), false);
  uint32_t adjoint = MatrixMath::adjointOptions(g);
  Matrix right = m.solve(upper, m.add(ofLower, ofUpper), la::kRight | adjoint);
  Matrix ordered = m.solve(lower, right, la::kLower | la::kUnitDiagonal | adjoint);
  call.add(0, m.putRows(ordered, getRowOrder(m.math, call.result(1).re, rows)));
  return success();
}

/// The adjoint's solution has the gradient of b; that of each diagonal is its product with x.
LogicalResult pullTridiagonalSolve(LinearAlgebraCall& call) {
  MatrixMath& m = call.math;
  TensorMath& math = m.math;
  Matrix x = call.result(0), g = call.gradient(0);
  // Element i of `dim` becomes element i + by.
  auto shift = [&](Matrix value, int64_t dim, int64_t by) {
    auto move = [&](Value part) -> Value {
      if (!part) return part;
      RankedTensorType type = tensorType(part);
      SmallVector<int64_t> low(type.getRank(), 0), high(low), none(low);
      low[dim] = by, high[dim] = -by;
      Value zero = math.splat(RankedTensorType::get({}, type.getElementType()), 0.0);
      return math.create<PadOp>(type, part, zero, low, high, none);
    };
    return Matrix{move(value.re), move(value.im)};
  };
  int64_t rank = tensorType(x.re).getRank();
  Matrix lower = m.conjugate(shift(call.operand(2), rank - 2, 1)),
         upper = m.conjugate(shift(call.operand(0), rank - 2, -1));
  Matrix diagonal = m.conjugate(call.operand(1));
  SmallVector<Value> inputs;
  for (Matrix part : {lower, diagonal, upper, g})
    for (Value value : {part.re, part.im})
      if (value) inputs.push_back(value);
  Operation* solved =
      createLinearAlgebra(math.getBuilder(), math.getLoc(), LinearAlgebraKind::TridiagonalSolve, call.options, inputs);
  Matrix own{solved->getResult(0), x.im ? solved->getResult(1) : Value()};
  call.add(3, own);
  for (unsigned operand = 0; operand < 3; ++operand) {
    if (!call.wants(operand)) continue;
    // Row i times row i - 1, i and i + 1 of x.
    Matrix other = operand == 1 ? x : shift(x, rank - 2, operand == 0 ? 1 : -1);
    Matrix products{math.multiply(own.re, other.re), {}};
    if (x.im) {
      products.re = math.add(products.re, math.multiply(own.im, other.im));
      products.im = math.subtract(math.multiply(own.im, other.re), math.multiply(own.re, other.im));
    }
    auto sum = [&](Value part) { return part ? math.minus(math.reduce(part, ReduceKind::Add, rank - 1)) : Value(); };
    call.add(operand, {sum(products.re), sum(products.im)});
  }
  return success();
}

LogicalResult refuseFactors(LinearAlgebraCall& call) {
  return call.refuse("has no derivative here", "a decomposition with one, as eigh, svd, qr or lu; use one of them");
}

LogicalResult pullHouseholderMultiply(LinearAlgebraCall& call) {
  Matrix g = call.gradient(0);
  if (call.wants(0) || call.wants(1))
    return call.refuse("has no derivative by reflectors here",
                       "a product with the matrix q that householder_product makes; multiply with it");
  // q is constant: the adjoint multiplies the gradient.
  SmallVector<Value> inputs;
  for (Matrix part : {call.operand(0), call.operand(1), g})
    for (Value value : {part.re, part.im})
      if (value) inputs.push_back(value);
  Operation* product =
      createLinearAlgebra(call.math.math.getBuilder(), call.op.getLoc(), LinearAlgebraKind::HouseholderMultiply,
                          call.options ^ MatrixMath::adjointOptions(g), inputs);
  call.add(2, {product->getResult(0), g.im ? product->getResult(1) : Value()});
  return success();
}

/// By kind, in the order of the enum.
constexpr LinearAlgebraRule* kRules[] = {
    pullCholesky,             // cholesky
    pullTriangularSolve,      // triangular_solve
    pullLu,                   // lu
    pullQr,                   // qr
    pullPivotedQr,            // pivoted_qr
    pullHouseholderProduct,   // householder_product
    pullHouseholderMultiply,  // householder_multiply
    pullEigh,                 // eigh
    pullSvd,                  // svd
    pullEig,                  // eig
    refuseFactors,            // schur
    refuseFactors,            // hessenberg
    refuseFactors,            // tridiagonal
    pullTridiagonalSolve,     // tridiagonal_solve
    pullFft,                  // fft
    pullRealFft,              // real_fft
    pullInverseRealFft,       // inverse_real_fft
};
static_assert(std::size(kRules) == la::kNumKinds);

LogicalResult pullLinearAlgebra(LinearAlgebraOp op, ArrayRef<Value> gradients, Pullback& p) {
  LinearAlgebraCall call(op, gradients, p);
  return kRules[static_cast<size_t>(op.getKind())](call);
}

}  // namespace

void mlir::sgd::attachLinearAlgebraDerivatives(MLIRContext& context) {
  attachDerivatives<LinearAlgebraOp, pullLinearAlgebra>(context);
}
