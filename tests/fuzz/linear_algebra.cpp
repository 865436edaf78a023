// Decompositions and solvers of well-conditioned matrices, in batches. Signs and phases of vectors, vectors of equal
// values and the order of eigenvalues that are no real numbers by nature are LAPACK's choice: compared are products of
// them that do not depend on it.
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

  /// The sums of products of a and b over the last dimension but `aBehind` of a and `bBehind` of b; `isHidden`: right
  /// programs may differ in it.
  Value dot(const Value& a, const Value& b, int64_t aBehind, int64_t bBehind, bool isHidden) {
    std::vector<int64_t> batching;
    for (size_t dim = 0; dim < batch.size(); ++dim) batching.push_back(static_cast<int64_t>(dim));
    int64_t aDim = a.type.rank() - 1 - aBehind, bDim = b.type.rank() - 1 - bBehind;
    Type type{batch, element};
    auto addFree = [&](const Value& value, int64_t contracting) {
      for (int64_t dim = static_cast<int64_t>(batch.size()); dim < value.type.rank(); ++dim)
        if (dim != contracting) type.shape.push_back(value.type.shape[dim]);
    };
    addFree(a, aDim);
    addFree(b, bDim);
    std::string text = "sgd.dot_general " + a.name + ", " + b.name + " batching = " + printList(batching) + " x " +
                       printList(batching) + " contracting = " + printList({aDim}) + " x " + printList({bDim}) + " : " +
                       a.type.print() + ", " + b.type.print() + " -> " + type.print();
    if (!isHidden) return program.addOp(text, type);
    Value result = program.addLine(text, type);
    program.hide(result);
    return result;
  }

  /// The columns of `a` times the squares of `values`; hidden.
  Value scaleColumns(const Value& a, const Value& values) {
    std::vector<int64_t> dims;
    for (int64_t dim = 0; dim < values.type.rank(); ++dim) dims.push_back(dim + 1 < values.type.rank() ? dim : dim + 1);
    Value squares = combine("mulf", values, values, /*isHidden=*/true);
    Value repeated = program.addLine("sgd.broadcast_in_dim " + squares.name + " dims = " + printList(dims) + " : " +
                                         squares.type.print() + " -> " + a.type.print(),
                                     a.type);
    program.hide(repeated);
    return combine("mulf", a, repeated, /*isHidden=*/true);
  }

  Value combine(const std::string& name, const Value& a, const Value& b, bool isHidden) {
    Value result = program.addLine("arith." + name + " " + a.name + ", " + b.name + " : " + a.type.print(), a.type);
    if (isHidden) program.hide(result);
    return result;
  }

  /// a times the diagonal matrix of the squares of `values`, times b, or its transpose.
  void addProduct(const Value& a, const Value& values, const Value& b, bool isTransposed) {
    dot(scaleColumns(a, values), b, 0, isTransposed ? 0 : 1, /*isHidden=*/false);
  }

  /// The products of a matrix' columns, or rows, with each other.
  void addGram(const Value& a, bool ofRows) { dot(a, a, ofRows ? 0 : 1, ofRows ? 0 : 1, /*isHidden=*/false); }

  /// Parts of a complex tensor.
  struct Parts {
    Value re, im;
  };

  /// As `dot`, of a and b, or of the conjugate of one of them. What is not hidden are the sum and the difference of the
  /// parts: one part alone may be nothing but the rounding of the other.
  enum class Conjugate { Neither, First, Second };
  Parts dot(const Parts& a, const Parts& b, int64_t aBehind, int64_t bBehind, Conjugate conjugate, bool isHidden) {
    auto part = [&](const Value& x, const Value& y) { return dot(x, y, aBehind, bBehind, /*isHidden=*/true); };
    Value rr = part(a.re, b.re), ii = part(a.im, b.im), ri = part(a.re, b.im), ir = part(a.im, b.re);
    Parts product{combine(conjugate == Conjugate::Neither ? "subf" : "addf", rr, ii, /*isHidden=*/true),
                  conjugate == Conjugate::Neither ? combine("addf", ri, ir, /*isHidden=*/true)
                  : conjugate == Conjugate::First ? combine("subf", ri, ir, /*isHidden=*/true)
                                                  : combine("subf", ir, ri, /*isHidden=*/true)};
    if (!isHidden) {
      combine("addf", product.re, product.im, /*isHidden=*/false);
      combine("subf", product.re, product.im, /*isHidden=*/false);
    }
    return product;
  }

  /// The products of a complex matrix' columns, or rows, with each other.
  void addGram(const Parts& a, bool ofRows) {
    int64_t behind = ofRows ? 0 : 1;
    dot(a, a, behind, behind, ofRows ? Conjugate::Second : Conjugate::First, /*isHidden=*/false);
  }

  Parts scaleColumns(const Parts& a, const Value& values) {
    return {scaleColumns(a.re, values), scaleColumns(a.im, values)};
  }

  /// a times the diagonal matrix of the squares of `values`, times its adjoint.
  void addHermitianProduct(const Parts& a, const Value& values) {
    dot(scaleColumns(a, values), a, 0, 0, Conjugate::Second, /*isHidden=*/false);
  }

  /// Hides what depends on phases, or on an order.
  Parts hide(const Value& re, const Value& im) {
    program.hide(re);
    program.hide(im);
    return {re, im};
  }

  /// What does not depend on the order of eigenvalues: the sums of their squares.
  void addSums(const Parts& values) { dot(values, values, 0, 0, Conjugate::Neither, /*isHidden=*/false); }

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
                        addTridiagonalSolve, addComplexSolve, addComplexFactors, addHermitian, addComplexSvd,
                        addComplexReduction, addEig, addSchur})(builder);
}
