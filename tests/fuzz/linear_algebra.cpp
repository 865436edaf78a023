// Decompositions and solvers of real matrices.
#include "tests/fuzz/matrix_ops.h"

using namespace mlir::sgd::fuzz;

namespace {

void addCholesky(MatrixOps& b) {
  int64_t n = b.chooseSize();
  b.call("cholesky" + b.maybe("lower"), {b.matrix(n, n)}, {b.matrixType(n, n), b.infoType()});
}

void addTriangularSolve(MatrixOps& b) {
  int64_t n = b.chooseSize(), other = b.chooseSize();
  bool isRight = b.choices.chance(50);
  Shape shape = isRight ? Shape{other, n} : Shape{n, other};
  std::string options = b.maybe("lower") + (isRight ? " right" : "") + b.maybe("transpose") + b.maybe("unit_diagonal");
  b.call("triangular_solve" + options, {b.matrix(n, n), b.any(shape)}, {b.vectorsOf(shape)});
}

void addLu(MatrixOps& b) {
  int64_t m = b.chooseSize(), n = b.chooseSize();
  b.call("lu", {b.matrix(m, n)}, {b.matrixType(m, n), {b.vectorsOf({std::min(m, n)}).shape, "i32"}, b.infoType()});
}

void addQr(MatrixOps& b) {
  int64_t m = b.chooseSize(), n = std::min(m, b.chooseSize());
  std::vector<Value> qr = b.call("qr", {b.matrix(m, n)}, {b.matrixType(m, n), b.vectorsOf({n})});
  if (b.choices.chance(50)) {
    b.call("householder_product", qr, {b.matrixType(m, n)});
    return;
  }
  bool isRight = b.choices.chance(50);
  Shape shape = isRight ? Shape{b.chooseSize(), m} : Shape{m, b.chooseSize()};
  b.call("householder_multiply" + std::string(isRight ? " right" : "") + b.maybe("transpose"),
         {qr[0], qr[1], b.any(shape)}, {b.vectorsOf(shape)});
}

/// With vectors v of values w: v diag(w)^2 v^T is the matrix' square, and v^T v is one.
void addEigh(MatrixOps& b) {
  int64_t n = b.chooseSize();
  Value a = b.matrix(n, n, /*grows=*/true);
  if (b.choices.chance(40)) {
    b.call("eigh" + b.maybe("lower"), {a}, {b.vectorsOf({n}), b.infoType()});
    return;
  }
  std::vector<Value> results =
      b.call("eigh" + b.maybe("lower") + " vectors", {a}, {b.matrixType(n, n), b.vectorsOf({n}), b.infoType()});
  b.program.hide(results[0]);
  b.addProduct(results[0], results[1], results[0], /*isTransposed=*/true);
  b.addGram(results[0], /*ofRows=*/false);
}

/// With vectors u and v of values s: u diag(s)^2 v^T, u^T u and v^T v. Vectors beyond the values are any that complete
/// these.
void addSvd(MatrixOps& b) {
  int64_t m = b.chooseSize(), n = b.chooseSize(), k = std::min(m, n);
  Value a = b.matrix(m, n, /*grows=*/true);
  std::string method = b.maybe("qr_iteration");
  if (b.choices.chance(40)) {
    b.call("svd" + method, {a}, {b.vectorsOf({k}), b.infoType()});
    return;
  }
  bool isFull = b.choices.chance(30);
  int64_t left = isFull ? m : k, right = isFull ? n : k;
  std::vector<Value> results = b.call("svd vectors" + std::string(isFull ? " full" : "") + method, {a},
                                      {b.vectorsOf({k}), b.matrixType(m, left), b.matrixType(right, n), b.infoType()});
  b.program.hide(results[1]);
  b.program.hide(results[2]);
  if (left == k && right == k) b.addProduct(results[1], results[0], results[2], /*isTransposed=*/false);
  b.addGram(results[1], /*ofRows=*/false);
  b.addGram(results[2], /*ofRows=*/true);
}

void addReduction(MatrixOps& b) {
  int64_t n = b.chooseSize();
  Type between = b.vectorsOf({n - 1});
  if (b.choices.chance(50)) {
    b.call("hessenberg", {b.matrix(n, n)}, {b.matrixType(n, n), between, b.infoType()});
    return;
  }
  b.call("tridiagonal lower", {b.matrix(n, n)}, {b.matrixType(n, n), b.vectorsOf({n}), between, between, b.infoType()});
}

void addTridiagonalSolve(MatrixOps& b) {
  int64_t n = b.chooseSize(), columns = b.chooseSize();
  Type type = b.vectorsOf({n});
  Value diagonal = b.program.addArgument(type, Range::numbers(6, 9));
  b.call("tridiagonal_solve", {b.any({n}), diagonal, b.any({n}), b.any({n, columns})},
         {b.matrixType(n, columns), b.infoType()});
}

}  // namespace

void mlir::sgd::fuzz::addLinearAlgebra(Program& program) {
  MatrixOps builder(program);
  if (program.choices.chance(45)) return addComplexLinearAlgebra(builder);
  using Add = void (*)(MatrixOps&);
  program.choices.pick({static_cast<Add>(addCholesky), addTriangularSolve, addLu, addQr, addEigh, addSvd, addReduction,
                        addTridiagonalSolve})(builder);
}
