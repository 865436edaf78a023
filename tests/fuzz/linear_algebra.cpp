// Decompositions and solvers of well-conditioned matrices, in batches. Signs of vectors, and vectors of equal values,
// are LAPACK's choice: compared are products of them that do not depend on it.
#include <algorithm>

#include "tests/differential/check.h"
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

/// Builds calls on matrices near a diagonal one.
class MatrixOps {
 public:
  explicit MatrixOps(Program& program) : program(program), choices(program.choices) {
    element = choices.pick({"f32", "f32", "f64"});
    for (uint64_t dims = choices.pick({1, 0, 2}); dims > 0; --dims)
      batch.push_back(std::min<int64_t>(program.chooseSize(), 6));
  }

  int64_t chooseSize() { return choices.pick({3, 1, 2, 4, 6, 8}); }

  Type matrixType(int64_t rows, int64_t columns) const { return vectorsOf({rows, columns}); }
  Type vectorsOf(const Shape& shape) const {
    Type type{batch, element};
    type.shape.insert(type.shape.end(), shape.begin(), shape.end());
    return type;
  }
  Type infoType() const { return {batch, "i32"}; }

  /// Any numbers of that type.
  Value any(const Shape& shape) { return program.addArgument(vectorsOf(shape), Range::numbers(-2, 2)); }

  /// Small numbers, and 1, or `grows`: 1, 2, 3, ..., on the diagonal.
  Value matrix(int64_t rows, int64_t columns, bool grows = false) {
    std::string text;
    for (int64_t row = 0; row < rows; ++row) {
      text += row == 0 ? "[" : ", [";
      for (int64_t column = 0; column < columns; ++column)
        text +=
            (column == 0 ? "" : ", ") + std::string(row == column ? std::to_string(grows ? row + 1 : 1) + ".0" : "0.0");
      text += "]";
    }
    Type one{{rows, columns}, element}, type = matrixType(rows, columns);
    Value diagonal = program.addLine("arith.constant dense<[" + text + "]> : " + one.print(), one);
    std::vector<int64_t> dims = {type.rank() - 2, type.rank() - 1};
    Value repeated = program.addLine("sgd.broadcast_in_dim " + diagonal.name + " dims = " + printList(dims) + " : " +
                                         one.print() + " -> " + type.print(),
                                     type);
    Value small =
        program.addLine("arith.constant dense<" + std::string(grows ? "0.03" : "0.05") + "> : " + type.print(), type);
    Value scaled = elementwise("arith.mulf", any({rows, columns}), small);
    return elementwise("arith.addf", repeated, scaled);
  }

  Value elementwise(const std::string& name, const Value& a, const Value& b) {
    return program.addElementwise(name, {a, b}, a.type, a.type.print());
  }

  std::vector<Value> call(const std::string& kind, const std::vector<Value>& inputs, const std::vector<Type>& results) {
    std::string names, types, outs;
    for (const Value& input : inputs) {
      names += (names.empty() ? "" : ", ") + input.name;
      types += (types.empty() ? "" : ", ") + input.type.print();
    }
    for (const Type& result : results) outs += (outs.empty() ? "" : ", ") + result.print();
    return program.addLines("sgd.linear_algebra " + kind + " (" + names + ") : (" + types + ") -> (" + outs + ")",
                            results);
  }

  /// a times the diagonal matrix of the squares of `values`, times b, or its transpose.
  void addProduct(const Value& a, const Value& values, const Value& b, bool isTransposed) {
    std::vector<int64_t> dims, batching;
    for (int64_t dim = 0; dim < values.type.rank(); ++dim) dims.push_back(dim + 1 < values.type.rank() ? dim : dim + 1);
    for (int64_t dim = 0; dim + 1 < values.type.rank(); ++dim) batching.push_back(dim);
    auto multiply = [&](const Value& x, const Value& y) {
      return program.addLine("arith.mulf " + x.name + ", " + y.name + " : " + x.type.print(), x.type);
    };
    Value squares = multiply(values, values);
    Value repeated = program.addLine("sgd.broadcast_in_dim " + squares.name + " dims = " + printList(dims) + " : " +
                                         squares.type.print() + " -> " + a.type.print(),
                                     a.type);
    Value scaled = multiply(a, repeated);
    program.hide(scaled);
    int64_t contracting = b.type.rank() - (isTransposed ? 1 : 2), free = b.type.rank() - (isTransposed ? 2 : 1);
    Type type = matrixType(a.type.shape[a.type.rank() - 2], b.type.shape[free]);
    program.addOp("sgd.dot_general " + scaled.name + ", " + b.name + " batching = " + printList(batching) + " x " +
                      printList(batching) + " contracting = " + printList({a.type.rank() - 1}) + " x " +
                      printList({contracting}) + " : " + scaled.type.print() + ", " + b.type.print() + " -> " +
                      type.print(),
                  type);
  }

  /// The products of a matrix' columns, or rows, with each other.
  void addGram(const Value& a, bool ofRows) {
    std::vector<int64_t> batching;
    for (int64_t dim = 0; dim + 2 < a.type.rank(); ++dim) batching.push_back(dim);
    int64_t contracting = a.type.rank() - (ofRows ? 1 : 2), size = a.type.shape[a.type.rank() - (ofRows ? 2 : 1)];
    Type type = matrixType(size, size);
    program.addOp("sgd.dot_general " + a.name + ", " + a.name + " batching = " + printList(batching) + " x " +
                      printList(batching) + " contracting = " + printList({contracting}) + " x " +
                      printList({contracting}) + " : " + a.type.print() + ", " + a.type.print() + " -> " + type.print(),
                  type);
  }

  std::string maybe(const std::string& option) { return choices.chance(50) ? " " + option : ""; }

  Program& program;
  Choices& choices;
  std::string element;
  Shape batch;
};

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

/// Of one triangle, whatever the other one and the imaginary parts of the diagonal hold.
void addHermitian(MatrixOps& b) {
  int64_t n = b.chooseSize();
  std::vector<Value> a = addComplexMatrix(b, n, n, /*grows=*/true);
  if (b.choices.chance(50)) {
    b.call("eigh" + b.maybe("lower") + " complex", a, {b.vectorsOf({n}), b.infoType()});
    return;
  }
  b.call("cholesky" + b.maybe("lower") + " complex", a, {b.matrixType(n, n), b.matrixType(n, n), b.infoType()});
}

void addComplexValues(MatrixOps& b) {
  int64_t m = b.chooseSize(), n = b.chooseSize();
  b.call("svd" + b.maybe("qr_iteration") + " complex", addComplexMatrix(b, m, n, /*grows=*/true),
         {b.vectorsOf({std::min(m, n)}), b.infoType()});
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
  // GPUs refuse it by name.
  if (differential::CheckOptions::getDefaultTarget() != "cpu") return addDotGeneral(program);
  MatrixOps builder(program);
  using Add = void (*)(MatrixOps&);
  program.choices.pick({static_cast<Add>(addCholesky), addTriangularSolve, addLu, addQr, addEigh, addSvd, addReduction,
                        addTridiagonalSolve, addComplexSolve, addComplexFactors, addHermitian,
                        addComplexValues})(builder);
}
