// Decompositions and solvers of complex matrices, general eigenvalues and Schur forms.
#include "tests/fuzz/matrix_ops.h"

using namespace mlir::sgd::fuzz;

namespace {

/// Parts of a complex matrix near a diagonal one that is real.
std::vector<Value> addComplexMatrix(MatrixOps& b, int64_t rows, int64_t columns, bool grows = false) {
  Type type = b.matrixType(rows, columns);
  Value small = b.program.addLine("arith.constant dense<0.05> : " + type.print(), type);
  return {b.matrix(rows, columns, grows), b.elementwise("arith.mulf", b.any({rows, columns}), small)};
}

std::vector<Type> twice(const Type& type) { return {type, type}; }

void addComplexSolve(MatrixOps& b) {
  int64_t n = b.chooseSize(), other = b.chooseSize();
  bool isRight = b.choices.chance(50);
  Shape shape = isRight ? Shape{other, n} : Shape{n, other};
  std::string options = b.maybe("lower") + (isRight ? " right" : "");
  bool isTransposed = b.choices.chance(70);
  if (isTransposed) options += " transpose";
  options += b.maybe("unit_diagonal") + " complex" + (isTransposed ? b.maybe("conjugate") : "");
  std::vector<Value> inputs = addComplexMatrix(b, n, n);
  inputs.push_back(b.any(shape));
  inputs.push_back(b.any(shape));
  b.call("triangular_solve" + options, inputs, twice(b.vectorsOf(shape)));
}

void addComplexFactors(MatrixOps& b) {
  int64_t m = b.chooseSize(), n = std::min(m, b.chooseSize());
  std::vector<Type> results = twice(b.matrixType(m, n));
  if (b.choices.chance(30)) {
    results.push_back({b.vectorsOf({n}).shape, "i32"});
    results.push_back(b.infoType());
    b.call("lu complex", addComplexMatrix(b, m, n), results);
    return;
  }
  results.insert(results.end(), 2, b.vectorsOf({n}));
  std::vector<Value> qr = b.call("qr complex", addComplexMatrix(b, m, n), results);
  if (b.choices.chance(50)) {
    b.call("householder_product complex", qr, twice(b.matrixType(m, n)));
    return;
  }
  bool isRight = b.choices.chance(50), isTransposed = b.choices.chance(50);
  Shape shape = isRight ? Shape{b.chooseSize(), m} : Shape{m, b.chooseSize()};
  qr.insert(qr.end(), {b.any(shape), b.any(shape)});
  b.call("householder_multiply" + std::string(isRight ? " right" : "") + (isTransposed ? " transpose" : "") +
             " complex" + (isTransposed ? " conjugate" : ""),
         qr, twice(b.vectorsOf(shape)));
}

/// Of one triangle, whatever the other one and the imaginary parts of the diagonal hold. With vectors v of values w:
/// v diag(w)^2 v^H is the matrix' square, and v^H v is one.
void addHermitian(MatrixOps& b) {
  int64_t n = b.chooseSize();
  std::vector<Value> a = addComplexMatrix(b, n, n, /*grows=*/true);
  Type matrix = b.matrixType(n, n);
  if (b.choices.chance(30)) {
    b.call("cholesky" + b.maybe("lower") + " complex", a, {matrix, matrix, b.infoType()});
    return;
  }
  if (b.choices.chance(30)) {
    b.call("eigh" + b.maybe("lower") + " complex", a, {b.vectorsOf({n}), b.infoType()});
    return;
  }
  std::vector<Value> results =
      b.call("eigh" + b.maybe("lower") + " vectors complex", a, {matrix, matrix, b.vectorsOf({n}), b.infoType()});
  MatrixOps::Parts vectors = b.hide(results[0], results[1]);
  b.addHermitianProduct(vectors, results[2]);
  b.addGram(vectors, /*ofRows=*/false);
}

/// As addSvd.
void addComplexSvd(MatrixOps& b) {
  int64_t m = b.chooseSize(), n = b.chooseSize(), k = std::min(m, n);
  std::vector<Value> a = addComplexMatrix(b, m, n, /*grows=*/true);
  std::string method = b.maybe("qr_iteration");
  if (b.choices.chance(40)) {
    b.call("svd" + method + " complex", a, {b.vectorsOf({k}), b.infoType()});
    return;
  }
  bool isFull = b.choices.chance(30);
  Type left = b.matrixType(m, isFull ? m : k), right = b.matrixType(isFull ? n : k, n);
  std::vector<Value> results = b.call("svd vectors" + std::string(isFull ? " full" : "") + method + " complex", a,
                                      {b.vectorsOf({k}), left, left, right, right, b.infoType()});
  MatrixOps::Parts u = b.hide(results[1], results[2]), v = b.hide(results[3], results[4]);
  if (!isFull || m == n)
    b.dot(b.scaleColumns(u, results[0]), v, 0, 1, MatrixOps::Conjugate::Neither, /*isHidden=*/false);
  b.addGram(u, /*ofRows=*/false);
  b.addGram(v, /*ofRows=*/true);
}

void addComplexReduction(MatrixOps& b) {
  int64_t n = b.chooseSize();
  Type matrix = b.matrixType(n, n), between = b.vectorsOf({n - 1});
  if (b.choices.chance(50))
    b.call("hessenberg complex", addComplexMatrix(b, n, n), {matrix, matrix, between, between, b.infoType()});
  else
    b.call("tridiagonal" + b.maybe("lower") + " complex", addComplexMatrix(b, n, n),
           {matrix, matrix, b.vectorsOf({n}), between, between, between, b.infoType()});
}

/// With vectors v of values w, each of norm 1: v diag(|w|)^2 v^H, whatever their order and phases. Left ones as well.
void addEig(MatrixOps& b) {
  int64_t n = b.chooseSize();
  bool isComplex = b.choices.chance(50), hasLeft = b.choices.chance(40), hasRight = b.choices.chance(70);
  std::vector<Value> a =
      isComplex ? addComplexMatrix(b, n, n, /*grows=*/true) : std::vector<Value>{b.matrix(n, n, /*grows=*/true)};
  std::vector<Type> types = twice(b.vectorsOf({n}));
  types.insert(types.end(), 2 * (hasLeft + hasRight), b.matrixType(n, n));
  types.push_back(b.infoType());
  std::vector<Value> results = b.call(std::string("eig") + (hasRight ? " vectors" : "") +
                                          (hasLeft ? " left_vectors" : "") + (isComplex ? " complex" : ""),
                                      a, types);
  b.addSums(b.hide(results[0], results[1]));
  for (size_t i = 2; i + 1 < results.size(); i += 2) {
    MatrixOps::Parts vectors = b.hide(results[i], results[i + 1]);
    // |w|^2 is the sum of the squares of its parts; of these real matrices they have one.
    b.addHermitianProduct(vectors, results[0]);
    if (isComplex) b.addHermitianProduct(vectors, results[1]);
  }
}

/// z t z^H is the matrix, and z z^H is one.
void addSchur(MatrixOps& b) {
  int64_t n = b.chooseSize();
  Type matrix = b.matrixType(n, n), values = b.vectorsOf({n});
  if (b.choices.chance(50)) {
    std::vector<Value> results =
        b.call("schur vectors", {b.matrix(n, n, /*grows=*/true)}, {matrix, matrix, values, values, b.infoType()});
    b.hide(results[0], results[1]);
    b.dot(b.dot(results[1], results[0], 0, 1, /*isHidden=*/true), results[1], 0, 0, /*isHidden=*/false);
    b.addGram(results[1], /*ofRows=*/true);
    b.addSums(b.hide(results[2], results[3]));
    return;
  }
  std::vector<Value> results = b.call("schur vectors complex", addComplexMatrix(b, n, n, /*grows=*/true),
                                      {matrix, matrix, matrix, matrix, values, values, b.infoType()});
  MatrixOps::Parts t = b.hide(results[0], results[1]), z = b.hide(results[2], results[3]);
  MatrixOps::Parts product = b.dot(z, t, 0, 1, MatrixOps::Conjugate::Neither, /*isHidden=*/true);
  b.dot(product, z, 0, 0, MatrixOps::Conjugate::Second, /*isHidden=*/false);
  b.addGram(z, /*ofRows=*/true);
  b.addSums(b.hide(results[4], results[5]));
}

}  // namespace

void mlir::sgd::fuzz::addComplexLinearAlgebra(MatrixOps& b) {
  using Add = void (*)(MatrixOps&);
  b.choices.pick({static_cast<Add>(addComplexSolve), addComplexFactors, addHermitian, addComplexSvd,
                  addComplexReduction, addEig, addSchur})(b);
}
