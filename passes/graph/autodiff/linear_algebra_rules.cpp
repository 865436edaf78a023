// Decompositions and solvers of real matrices. A routine reads one triangle of its matrix; the gradient of the other
// triangle is zero.
#include "dialects/sgd/linear_algebra.h"
#include "passes/graph/autodiff/derivative_rule.h"

using namespace mlir;
using namespace mlir::sgd;
namespace la = ::sgd::linear_algebra;

namespace {

/// Arithmetic on matrices, the last two dimensions of tensors.
class MatrixMath {
 public:
  explicit MatrixMath(TensorMath& math) : math(math) {}

  Value transpose(Value matrix) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(matrix).getRank()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return math.transpose(matrix, order);
  }

  Value multiply(Value a, Value b) {
    RankedTensorType type = tensorType(a);
    int64_t rank = type.getRank();
    auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = shapeOf(b).back();
    return math.create<DotGeneralOp>(type.clone(shape), a, b, batch, batch, ArrayRef<int64_t>{rank - 1},
                                     ArrayRef<int64_t>{rank - 2}, /*tf32=*/false);
  }

  /// Returns the lower or upper triangle, with zeros elsewhere.
  Value triangle(Value matrix, bool isLower, bool withDiagonal = true) {
    RankedTensorType type = tensorType(matrix), numbers = type.clone(math.getBuilder().getI32Type());
    Value row = math.create<IotaOp>(numbers, type.getRank() - 2),
          column = math.create<IotaOp>(numbers, type.getRank() - 1);
    Value larger = isLower ? row : column, smaller = isLower ? column : row;
    Value isInside = withDiagonal ? math.isAtLeast(larger, smaller) : math.isLess(smaller, larger);
    return math.select(isInside, matrix, math.splat(type, 0.0));
  }

  /// The diagonal times 1/2.
  Value halveDiagonal(Value matrix) {
    RankedTensorType type = tensorType(matrix), numbers = type.clone(math.getBuilder().getI32Type());
    Value isOn = math.isEqual(math.create<IotaOp>(numbers, type.getRank() - 2),
                              math.create<IotaOp>(numbers, type.getRank() - 1));
    return math.select(isOn, math.multiply(matrix, math.splat(type, 0.5)), matrix);
  }

  /// x with op(a) x = b, or x op(a) = b.
  Value solve(Value a, Value b, uint32_t options) {
    return createLinearAlgebra(math.getBuilder(), math.getLoc(), LinearAlgebraKind::TriangularSolve, options, {a, b})
        ->getResult(0);
  }

  TensorMath& math;
};

/// With a = l l^T, both sides varied: inverse(l)^T phi(l^T g) inverse(l), symmetric, where phi is the lower triangle
/// with half of its diagonal (Murray, "Differentiation of the Cholesky decomposition", 2016).
void pullCholesky(LinearAlgebraOp op, Value g, Pullback& p) {
  MatrixMath m(p.math);
  bool isLower = op.getLower();
  Value factor = m.triangle(op->getResult(0), isLower), own = m.triangle(g, isLower);
  if (!isLower) factor = m.transpose(factor), own = m.transpose(own);
  Value inner = m.halveDiagonal(m.triangle(m.multiply(m.transpose(factor), own), true));
  Value left = m.solve(factor, inner, la::kLower | la::kTranspose);
  Value both = m.solve(factor, left, la::kLower | la::kRight);
  Value gradient = m.triangle(p.math.add(both, m.transpose(both)), true);
  gradient = m.halveDiagonal(gradient);
  if (!isLower) gradient = m.transpose(gradient);
  // The result's other triangle is that of the operand.
  p.add(op->getOperand(0), p.math.add(gradient, m.triangle(g, !isLower, /*withDiagonal=*/false)));
}

void pullTriangularSolve(LinearAlgebraOp op, Value g, Pullback& p) {
  MatrixMath m(p.math);
  Value a = op->getOperand(0), b = op->getOperand(1), x = op->getResult(0);
  uint32_t options = getLinearAlgebraOptions(op);
  bool isRight = op.getRight(), isTransposed = op.getTranspose();
  Value own = m.solve(a, g, options ^ la::kTranspose);
  p.add(b, own);
  if (!p.wants(a)) return;
  // Of op(a): -own x^T, or -x^T own where it stands right.
  Value outer = isRight ? m.multiply(m.transpose(x), own) : m.multiply(own, m.transpose(x));
  if (isTransposed) outer = m.transpose(outer);
  p.add(a, p.math.minus(m.triangle(outer, op.getLower(), !op.getUnitDiagonal())));
}

LogicalResult pullLinearAlgebra(LinearAlgebraOp op, ArrayRef<Value> gradients, Pullback& p) {
  bool isReal = !op.getComplex();
  bool isAlone = llvm::none_of(gradients.drop_front(), [](Value gradient) { return gradient != nullptr; });
  if (isReal && isAlone && op.getKind() == LinearAlgebraKind::Cholesky)
    return pullCholesky(op, gradients[0], p), success();
  if (isReal && isAlone && op.getKind() == LinearAlgebraKind::TriangularSolve)
    return pullTriangularSolve(op, gradients[0], p), success();
  return op.emitError() << stringifyLinearAlgebraKind(op.getKind())
                        << " has no derivative here; expected cholesky or triangular_solve of real matrices; write the "
                           "gradient with them";
}

}  // namespace

void mlir::sgd::attachLinearAlgebraDerivatives(MLIRContext& context) {
  attachDerivatives<LinearAlgebraOp, pullLinearAlgebra>(context);
}
