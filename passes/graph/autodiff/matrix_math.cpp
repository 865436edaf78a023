#include "passes/graph/autodiff/matrix_math.h"

#include "dialects/sgd/linear_algebra.h"

using namespace mlir;
using namespace mlir::sgd;
namespace la = ::sgd::linear_algebra;

Matrix MatrixMath::add(Matrix a, Matrix b) {
  auto addParts = [&](Value x, Value y) { return !x ? y : !y ? x : math.add(x, y); };
  return {addParts(a.re, b.re), addParts(a.im, b.im)};
}

Matrix MatrixMath::minus(Matrix a) {
  return eachPart(a, [&](Value part) { return math.minus(part); });
}

Matrix MatrixMath::conjugate(Matrix a) { return {a.re, a.im ? math.minus(a.im) : Value()}; }

Matrix MatrixMath::transpose(Matrix a) {
  return eachPart(a, [&](Value part) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(part).getRank()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return math.transpose(part, order);
  });
}

Value MatrixMath::multiply(Value a, Value b) {
  RankedTensorType type = tensorType(a);
  int64_t rank = type.getRank();
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = shapeOf(b).back();
  return math.create<DotGeneralOp>(type.clone(shape), a, b, batch, batch, ArrayRef<int64_t>{rank - 1},
                                   ArrayRef<int64_t>{rank - 2}, /*tf32=*/false);
}

Matrix MatrixMath::multiply(Matrix a, Matrix b) {
  Matrix product{multiply(a.re, b.re), {}};
  if (a.im && b.im) product.re = math.subtract(product.re, multiply(a.im, b.im));
  if (b.im) product.im = multiply(a.re, b.im);
  if (a.im) product = add(product, {Value(), multiply(a.im, b.re)});
  return product;
}

Matrix MatrixMath::scale(Matrix a, Value factors) {
  return eachPart(a, [&](Value part) { return math.multiply(part, factors); });
}

Value MatrixMath::asRows(Value vector, int64_t rows) {
  SmallVector<int64_t> shape(shapeOf(vector));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  ++dims.back();
  shape.insert(shape.end() - 1, rows);
  return math.broadcast(vector, dims, shape);
}

Value MatrixMath::asColumns(Value vector, int64_t columns) { return math.repeat(vector, columns); }

Value MatrixMath::number(Value like, int64_t fromLast) {
  RankedTensorType type = tensorType(like);
  return math.iota(type.getShape(), type.getRank() - fromLast);
}

Matrix MatrixMath::triangle(Matrix a, bool isLower, bool withDiagonal) {
  Value larger = number(a.re, isLower ? 2 : 1), smaller = number(a.re, isLower ? 1 : 2);
  Value isInside = withDiagonal ? math.isAtLeast(larger, smaller) : math.isLess(smaller, larger);
  return eachPart(a, [&](Value part) { return math.select(isInside, part, math.splat(tensorType(part), 0.0)); });
}

Value MatrixMath::onDiagonal(Value like, Value yes, Value no) {
  return math.select(math.isEqual(number(like, 2), number(like, 1)), yes, no);
}

Matrix MatrixMath::scaleRealDiagonal(Matrix a, double factor) {
  RankedTensorType type = tensorType(a.re);
  Value scaled = factor == 1 ? a.re : math.multiply(a.re, math.splat(type, factor));
  return {onDiagonal(a.re, scaled, a.re), a.im ? onDiagonal(a.im, math.splat(type, 0.0), a.im) : Value()};
}

Value MatrixMath::identity(Value like) {
  return onDiagonal(like, math.splat(tensorType(like), 1.0), math.splat(tensorType(like), 0.0));
}

Matrix MatrixMath::resize(Matrix a, int64_t rows, int64_t columns) {
  return eachPart(a, [&](Value part) {
    int64_t rank = tensorType(part).getRank();
    return math.resize(math.resize(part, rank - 2, rows), rank - 1, columns);
  });
}

uint32_t MatrixMath::adjointOptions(Matrix a) {
  return a.im ? uint32_t{la::kTranspose} | uint32_t{la::kConjugate} : uint32_t{la::kTranspose};
}

Matrix MatrixMath::solve(Matrix a, Matrix b, uint32_t options) {
  SmallVector<Value> inputs = {a.re, b.re};
  if (a.im) inputs = {a.re, a.im, b.re, b.im}, options |= la::kComplex;
  Operation* op =
      createLinearAlgebra(math.getBuilder(), math.getLoc(), LinearAlgebraKind::TriangularSolve, options, inputs);
  return {op->getResult(0), a.im ? op->getResult(1) : Value()};
}

Matrix MatrixMath::putRows(Matrix values, Value positions) {
  int64_t rank = tensorType(values.re).getRank();
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return eachPart(values, [&](Value part) {
    RankedTensorType type = tensorType(part);
    return math.create<ScatterOp>(type, math.splat(type, 0.0), positions, part, ScatterKind::Set,
                                  /*update_window_dims=*/ArrayRef<int64_t>{rank - 1},
                                  /*inserted_window_dims=*/ArrayRef<int64_t>{rank - 2}, /*input_batching_dims=*/batch,
                                  /*indices_batching_dims=*/batch,
                                  /*scatter_dims_to_operand_dims=*/ArrayRef<int64_t>{rank - 2},
                                  /*index_vector_dim=*/rank - 1, /*unsigned_indices=*/false, /*unique_indices=*/true);
  });
}
