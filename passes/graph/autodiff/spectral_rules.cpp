// Eigenvalues and singular values, with their vectors.
#include "passes/graph/autodiff/linear_algebra_call.h"

using namespace mlir;
using namespace mlir::sgd;
namespace la = ::sgd::linear_algebra;

namespace {

/// 1 / differences off the diagonal, and zeros on it.
Value invertDifferences(MatrixMath& m, Value differences) {
  RankedTensorType type = tensorType(differences);
  Value one = m.math.splat(type, 1.0), safe = m.onDiagonal(differences, one, differences);
  return m.onDiagonal(differences, m.math.splat(type, 0.0), m.math.divide(one, safe));
}

/// A square matrix with `vector` on its diagonal.
Matrix makeDiagonal(MatrixMath& m, Value vector) {
  Value rows = m.asRows(vector, shapeOf(vector).back());
  return {m.onDiagonal(rows, rows, m.math.splat(tensorType(rows), 0.0)), {}};
}

}  // namespace

/// With a = v w v^T: v (gw + f * v^T gv) v^T, f = 1 / (w_j - w_i). Of the triangle that the routine reads: the sum with
/// its transpose.
LogicalResult mlir::sgd::pullEigh(LinearAlgebraCall& call) {
  if (!call.has(la::kVectors)) {
    unsigned values = call.has(la::kComplex) ? 2 : 1;
    LinearAlgebraCall more = call.replace(call.options | la::kVectors, {values, values + 1});
    return pullEigh(more);
  }
  MatrixMath& m = call.math;
  Matrix v = call.result(0), gv = call.gradient(0), gw = call.gradient(1), inner;
  if (gw) inner = makeDiagonal(m, gw.re);
  if (gv) {
    Value w = call.result(1).re;
    int64_t n = v.columns();
    Value factors = invertDifferences(m, m.math.subtract(m.asRows(w, n), m.asColumns(w, n)));
    inner = m.add(inner, m.scale(m.multiply(m.adjoint(v), gv), factors));
  }
  Matrix both = m.multiply(m.multiply(v, inner), m.adjoint(v));
  call.add(0, m.scaleRealDiagonal(m.triangle(m.addAdjoint(both), call.has(la::kLower)), 0.5));
  return success();
}

namespace {

/// a = u s v^T; k singular values (Townsend, "Differentiating the singular value decomposition", 2016).
class SvdGradient {
 public:
  explicit SvdGradient(LinearAlgebraCall& call) : call(call), m(call.math), s(call.result(0).re) {
    k = shapeOf(s).back();
    u = m.resize(call.result(1), call.result(1).rows(), k);
    v = m.adjoint(m.resize(call.result(2), k, call.result(2).columns()));
  }

  void add(Matrix gs, Matrix gu, Matrix gvt) {
    Matrix inner, gv = gvt ? m.adjoint(gvt) : Matrix(), sum;
    if (gs) inner = makeDiagonal(m, gs.re);
    Value columns = m.asRows(s, k), rows = m.asColumns(s, k);
    if (gu) inner = m.add(inner, m.scale(getRotation(u, gu), columns));
    if (gv) inner = m.add(inner, m.scale(getRotation(v, gv), rows));
    if (gu && u.im) inner = m.add(inner, getPhase(gu));
    if (inner) sum = m.multiply(m.multiply(u, inner), m.adjoint(v));
    if (gu && u.rows() > k) sum = m.add(sum, m.multiply(getRest(u, gu), m.adjoint(v)));
    if (gv && v.rows() > k) sum = m.add(sum, m.multiply(u, m.adjoint(getRest(v, gv))));
    call.add(0, sum);
  }

 private:
  /// p + p^T, p = f * u^T gu, f = 1 / (s_j^2 - s_i^2).
  Matrix getRotation(Matrix vectors, Matrix g) {
    if (!factors) {
      Value columns = m.asRows(s, k), rows = m.asColumns(s, k);
      factors = invertDifferences(m, m.math.multiply(m.math.add(columns, rows), m.math.subtract(columns, rows)));
    }
    return m.addAdjoint(m.scale(m.multiply(m.adjoint(vectors), g), factors));
  }

  /// Phases of complex vectors: the imaginary diagonal of u^T gu, divided by s.
  Matrix getPhase(Matrix gu) {
    Value imaginary = m.math.divide(m.multiply(m.adjoint(u), gu).im, m.asRows(s, k));
    Value zeros = m.math.splat(tensorType(imaginary), 0.0);
    return {zeros, m.onDiagonal(imaginary, imaginary, zeros)};
  }

  /// gu / s without its part in the space of u.
  Matrix getRest(Matrix vectors, Matrix g) {
    Value inverse = m.math.divide(m.math.splat(tensorType(s), 1.0), s);
    Matrix scaled = m.scale(g, m.asRows(inverse, vectors.rows()));
    return m.subtract(scaled, m.multiply(vectors, m.multiply(m.adjoint(vectors), scaled)));
  }

  LinearAlgebraCall& call;
  MatrixMath& m;
  Value s, factors;
  int64_t k;
  Matrix u, v;
};

}  // namespace

LogicalResult mlir::sgd::pullSvd(LinearAlgebraCall& call) {
  if (!call.has(la::kVectors)) {
    LinearAlgebraCall more = call.replace(call.options | la::kVectors, {0, call.has(la::kComplex) ? 5u : 3u});
    return pullSvd(more);
  }
  Matrix gs = call.gradient(0), gu = call.gradient(1), gvt = call.gradient(2), u = call.result(1), vt = call.result(2);
  if ((gu || gvt) && call.has(la::kFull) && u.rows() != vt.columns())
    return call.refuse("has no derivative of full vectors", "the reduced form; ask for it");
  SvdGradient(call).add(gs, gu, gvt);
  return success();
}

/// Of an eigenvalue: y x^T / (y^T x), of its vectors from the left and from the right.
LogicalResult mlir::sgd::pullEig(LinearAlgebraCall& call) {
  bool hasLeft = call.has(la::kLeftVectors), hasRight = call.has(la::kVectors);
  for (unsigned vectors = (hasLeft ? 1 : 0) + (hasRight ? 1 : 0); vectors > 0; --vectors)
    if (call.gradient(vectors))
      return call.refuse("has no derivative of vectors", "uses of the values alone; use eigh");
  if (!hasLeft || !hasRight) {
    SmallVector<unsigned> results = {0, 1};
    if (hasLeft) results.append({2, 3});
    if (hasRight) results.append({4, 5});
    results.push_back(6);
    LinearAlgebraCall more = call.replace(call.options | la::kVectors | la::kLeftVectors, results);
    return pullEig(more);
  }
  MatrixMath& m = call.math;
  TensorMath& math = m.math;
  Matrix g = call.gradient(0), y = call.result(1), x = call.result(2);
  int64_t rows = tensorType(x.re).getRank() - 2, n = x.rows();
  auto dot = [&](Value a, Value b) { return math.reduce(math.multiply(a, b), ReduceKind::Add, rows); };
  // z = y^T x; g z / |z|^2.
  Matrix z{math.add(dot(y.re, x.re), dot(y.im, x.im)), math.subtract(dot(y.re, x.im), dot(y.im, x.re))};
  Value size = math.add(math.multiply(z.re, z.re), math.multiply(z.im, z.im));
  auto scale = [&](Value part) { return m.asRows(math.divide(part, size), n); };
  Matrix factor{scale(math.subtract(math.multiply(g.re, z.re), math.multiply(g.im, z.im))),
                scale(math.add(math.multiply(g.re, z.im), math.multiply(g.im, z.re)))};
  Matrix left{math.subtract(math.multiply(y.re, factor.re), math.multiply(y.im, factor.im)),
              math.add(math.multiply(y.re, factor.im), math.multiply(y.im, factor.re))};
  call.add(0, m.multiply(left, m.adjoint(x)));
  return success();
}
