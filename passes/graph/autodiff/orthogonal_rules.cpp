// QR decompositions. LAPACK's routine leaves r and reflectors in one matrix, and another one multiplies the reflectors
// to q. The gradient of q goes straight to the matrix that was decomposed.
#include "passes/graph/attention/causal_mask.h"
#include "passes/graph/autodiff/linear_algebra_call.h"

using namespace mlir;
using namespace mlir::sgd;
namespace la = ::sgd::linear_algebra;

namespace {

/// A decomposition of a [m, n] to q [m, p] and r [p, n], p = min(m, n).
class QrGradient {
 public:
  QrGradient(LinearAlgebraOp op, Pullback& pullback) : call(op, {}, pullback), m(call.math) {
    isPivoted = op.getKind() == LinearAlgebraKind::PivotedQr;
    Matrix both = call.result(0);
    inner = std::min(both.rows(), both.columns());
    r = m.triangle(m.resize(both, inner, both.columns()), false);
  }

  /// Returns the gradient of r from that of the matrix that holds r and reflectors.
  Matrix takeUpper(Matrix g) { return m.triangle(m.resize(g, inner, g.columns()), false); }

  /// Adds the gradient of a from those of q and r, of which one may be nothing. Of the first p columns: (gq + q s) /
  /// r^T, where s is the symmetric matrix with the upper triangle of gr r^T - q^T gq (Walter, "On differentiating the
  /// QR decomposition", 2018); r's other columns are q^T times those of a.
  void add(Matrix gq, Matrix gr) {
    Matrix q = getQ(), square = m.resize(r, inner, inner), others;
    int64_t columns = r.columns();
    if (gr && columns > inner) {
      Matrix behind = takeColumns(gr, inner, columns);
      others = m.multiply(q, behind);
      gq = m.add(gq, m.multiply(m.multiply(q, takeColumns(r, inner, columns)), m.adjoint(behind)));
    }
    if (gr) gr = m.resize(gr, inner, inner);
    Matrix difference;
    if (gr) difference = m.multiply(gr, m.adjoint(square));
    if (gq) difference = m.add(difference, m.minus(m.multiply(m.adjoint(q), gq)));
    Matrix upper = m.triangle(difference, false);
    Matrix symmetric = m.scaleRealDiagonal(m.addAdjoint(upper), 0.5);
    Matrix own = m.solve(square, m.add(gq, m.multiply(q, symmetric)), la::kRight | MatrixMath::adjointOptions(q));
    if (columns > inner) own = append(own, others);
    if (isPivoted) own = m.transpose(m.putRows(m.transpose(own), getOrder()));
    call.add(0, own);
  }

 private:
  /// Not taken from the program, which may have no use for it.
  Matrix getQ() {
    Matrix both = call.result(0), taus = call.result(isPivoted ? 2 : 1);
    Matrix reflectors = m.resize(both, both.rows(), inner);
    SmallVector<Value> inputs = {reflectors.re, taus.re};
    if (reflectors.im) inputs = {reflectors.re, reflectors.im, taus.re, taus.im};
    Operation* product =
        createLinearAlgebra(m.math.getBuilder(), m.math.getLoc(), LinearAlgebraKind::HouseholderProduct,
                            reflectors.im ? uint32_t{la::kComplex} : 0, inputs);
    return {product->getResult(0), reflectors.im ? product->getResult(1) : Value()};
  }

  Matrix takeColumns(Matrix a, int64_t begin, int64_t end) {
    auto take = [&](Value part) {
      if (!part) return part;
      SmallVector<int64_t> begins(tensorType(part).getRank(), 0), ends(shapeOf(part));
      begins.back() = begin, ends.back() = end;
      return m.math.slice(part, begins, ends);
    };
    return {take(a.re), take(a.im)};
  }

  Matrix append(Matrix a, Matrix b) {
    int64_t columns = r.columns();
    if (!b) return m.resize(a, a.rows(), columns);
    int64_t dim = tensorType(a.re).getRank() - 1;
    return {m.math.concatenate({a.re, b.re}, dim), a.im ? m.math.concatenate({a.im, b.im}, dim) : Value()};
  }

  /// Columns of a by those of q r.
  Value getOrder() {
    Value pivots = call.result(1).re;
    return m.math.subtract(pivots, m.math.splat(tensorType(pivots), int64_t{1}));
  }

  LinearAlgebraCall call;
  MatrixMath& m;
  bool isPivoted;
  int64_t inner;
  Matrix r;
};

bool isDecomposition(LinearAlgebraOp op) {
  return op && (op.getKind() == LinearAlgebraKind::Qr || op.getKind() == LinearAlgebraKind::PivotedQr);
}

/// Returns whether `select` replaces `value` by zeros below the diagonal.
bool dropsReflectors(arith::SelectOp select, Value value) {
  bool isElse = select.getFalseValue() == value;
  Value other = isElse ? select.getTrueValue() : select.getFalseValue();
  int64_t rank = tensorType(value).getRank();
  auto condition = dyn_cast<RankedTensorType>(select.getCondition().getType());
  if (getSplat(other) != 0.0 || !condition || condition.getShape() != shapeOf(value)) return false;
  auto numbers = llvm::seq<int64_t>(0, rank);
  ScoreDims dims(numbers.begin(), numbers.end());
  std::optional<int64_t> diagonal = readDiagonal(select.getCondition(), dims, rank - 2, rank - 1, /*wanted=*/isElse);
  return diagonal && *diagonal >= -1;
}

/// Returns whether `op` keeps matrices where they are, and their order: cuts or pads them behind.
bool cutsBehind(Operation* op) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return llvm::all_of(slice.getStarts().take_back(2), [](int64_t start) { return start == 0; }) &&
           llvm::all_of(slice.getStrides().take_back(2), [](int64_t stride) { return stride == 1; });
  if (auto pad = dyn_cast<PadOp>(op))
    return llvm::all_of(pad.getLow().take_back(2), [](int64_t margin) { return margin == 0; }) &&
           llvm::all_of(pad.getInterior().take_back(2), [](int64_t margin) { return margin == 0; });
  return isa<ShardingConstraintOp, OptimizationBarrierOp>(op);
}

/// Returns a use of `value`, r and reflectors, that may read reflectors and is no product of them; null if there is
/// none.
Operation* findOtherReader(Value value) {
  for (OpOperand& use : value.getUses()) {
    Operation* user = use.getOwner();
    if (auto call = dyn_cast<LinearAlgebraOp>(user)) {
      if (call.getKind() == LinearAlgebraKind::HouseholderProduct ||
          call.getKind() == LinearAlgebraKind::HouseholderMultiply)
        continue;
    }
    if (auto select = dyn_cast<arith::SelectOp>(user); select && dropsReflectors(select, value)) continue;
    Operation* other = user;
    if (cutsBehind(user) && use.getOperandNumber() < user->getNumResults())
      other = findOtherReader(user->getResult(isa<OptimizationBarrierOp>(user) ? use.getOperandNumber() : 0));
    if (other) return other;
  }
  return nullptr;
}

/// Returns the decomposition whose reflectors `product` multiplies; null if they come from elsewhere.
LinearAlgebraOp findDecomposition(LinearAlgebraCall& product) {
  Value reflectors = product.operand(0).re;
  while (Operation* op = reflectors.getDefiningOp()) {
    if (!cutsBehind(op)) break;
    reflectors = op->getOperand(isa<OptimizationBarrierOp>(op) ? cast<OpResult>(reflectors).getResultNumber() : 0);
  }
  auto decomposition = reflectors.getDefiningOp<LinearAlgebraOp>();
  if (!isDecomposition(decomposition) || decomposition.getResult(0) != reflectors) return nullptr;
  bool ownsTaus = product.operand(1).re.getDefiningOp() == decomposition;
  return ownsTaus ? decomposition : nullptr;
}

LogicalResult pullUpper(LinearAlgebraCall& call) {
  Matrix both = call.result(0), taus = call.gradient(call.op.getKind() == LinearAlgebraKind::PivotedQr ? 2 : 1);
  Operation* reader = findOtherReader(both.re);
  if (!reader && both.im) reader = findOtherReader(both.im);
  if (reader || taus)
    return call.refuse("has no derivative by its reflectors here",
                       "uses of the upper triangle and of householder_product; take the upper triangle first");
  if (Matrix g = call.gradient(0)) {
    QrGradient gradient(call.op, call.pullback);
    gradient.add({}, gradient.takeUpper(g));
  }
  return success();
}

}  // namespace

LogicalResult mlir::sgd::pullQr(LinearAlgebraCall& call) { return pullUpper(call); }
LogicalResult mlir::sgd::pullPivotedQr(LinearAlgebraCall& call) { return pullUpper(call); }

LogicalResult mlir::sgd::pullHouseholderProduct(LinearAlgebraCall& call) {
  LinearAlgebraOp decomposition = findDecomposition(call);
  if (!decomposition)
    return call.refuse("has no derivative by reflectors that no decomposition made", "those of qr; decompose a matrix");
  Matrix q = call.result(0);
  Matrix both{decomposition.getResult(0), {}};
  if (q.columns() != std::min(both.rows(), both.columns()) || q.rows() != both.rows())
    return call.refuse("has no derivative for all columns of q",
                       "as many columns as the matrix has, or rows if these are fewer; ask for the reduced form");
  QrGradient(decomposition, call.pullback).add(call.gradient(0), {});
  return success();
}
