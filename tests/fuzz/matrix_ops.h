// Linear algebra of programs at random: calls on well-conditioned matrices, in batches. Signs and phases of vectors,
// vectors of equal values and the order of eigenvalues of matrices that are not symmetric are LAPACK's choice: what is
// not hidden are products that do not depend on them.
#ifndef SGD_TESTS_FUZZ_MATRIX_OPS_H
#define SGD_TESTS_FUZZ_MATRIX_OPS_H

#include <algorithm>
#include <string>
#include <vector>

#include "tests/differential/check.h"
#include "tests/fuzz/families.h"

namespace mlir::sgd::fuzz {

/// Builds calls on matrices near a diagonal one.
class MatrixOps {
 public:
  explicit MatrixOps(Program& program) : program(program), choices(program.choices) {
    element = program.chooseFloat({"f32", "f32", "f64"});
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

  /// Adds what does not depend on the order of eigenvalues: the sums of their squares.
  void addSums(const Parts& values) { dot(values, values, 0, 0, Conjugate::Neither, /*isHidden=*/false); }

  std::string maybe(const std::string& option) { return choices.chance(50) ? " " + option : ""; }

  Program& program;
  Choices& choices;
  std::string element;
  Shape batch;
};

/// A call on complex matrices, or one of those whose results are complex for real ones too.
void addComplexLinearAlgebra(MatrixOps& b);

}  // namespace mlir::sgd::fuzz

#endif
