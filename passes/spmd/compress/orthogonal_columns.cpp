// Gram and Schmidt's method by way of Cholesky's factor L of the columns' inner products: the columns times L^-T. That
// is a matmul for the products, a matmul for the result, and for all matrices together an elimination of [products | 1]
// to [L^T | L^-1], in ops on a few elements.
#include "passes/spmd/compress/orthogonal_columns.h"

using namespace mlir;
using namespace mlir::sgd;

/// Part of the trace that is added to the diagonal: above what rounding leaves there.
static constexpr double kLeastPart = 1e-6;
/// Of a matrix of zeros.
static constexpr double kLeastPivot = 1e-30;

namespace {

/// [products | 1] of all matrices, [matrices, rank, 2 * rank].
class Elimination {
 public:
  Elimination(TensorMath& math, ArrayRef<Value> products)
      : math(math), matrices(products.size()), rank(tensorType(products.front()).getDimSize(1)) {
    Value all = math.concatenate(products, 0);
    Value diagonal = math.isEqual(math.iota({matrices, rank, rank}, 1), math.iota({matrices, rank, rank}, 2));
    Value zeros = math.splat(0, all);
    Value trace = math.reduce(math.select(diagonal, all, zeros), ReduceKind::Add, {1, 2});
    least = math.add(math.multiply(trace, math.splat(kLeastPart, trace)), math.splat(kLeastPivot, trace));
    Value raised = math.add(all, math.select(diagonal, math.broadcast(least, {0}, {matrices, rank, rank}), zeros));
    work = math.concatenate({raised, math.select(diagonal, math.splat(1, all), zeros)}, 2);
    rows = math.iota({matrices, rank, 2 * rank}, 1);
  }

  /// L^-1 of all matrices, [matrices, rank, rank].
  Value run() {
    for (int64_t step = 0; step < rank; ++step) eliminate(step);
    return math.slice(work, {0, 0, rank}, {matrices, rank, 2 * rank});
  }

 private:
  void eliminate(int64_t step) {
    Value pivot = math.reshape(math.slice(work, {0, step, step}, {matrices, step + 1, step + 1}), {matrices});
    Value factor = math.inverseRoot(math.select(math.isLess(pivot, least), least, pivot));
    Value row = math.reshape(math.slice(work, {0, step, 0}, {matrices, step + 1, 2 * rank}), {matrices, 2 * rank});
    Value column = math.reshape(math.slice(work, {0, 0, step}, {matrices, rank, step + 1}), {matrices, rank});
    row = math.broadcast(math.multiply(row, math.broadcast(factor, {0}, {matrices, 2 * rank})), {0, 2}, getShape());
    column = math.broadcast(math.multiply(column, math.broadcast(factor, {0}, {matrices, rank})), {0, 1}, getShape());
    Value here = math.broadcast(math.index(step), {}, getShape());
    Value below = math.select(math.isLess(here, rows), math.subtract(work, math.multiply(column, row)), work);
    work = math.select(math.isEqual(rows, here), row, below);
  }

  SmallVector<int64_t> getShape() const { return {matrices, rank, 2 * rank}; }

  TensorMath& math;
  int64_t matrices, rank;
  Value least;  // pivot, by matrix
  Value work, rows;
};

}  // namespace

SmallVector<Value> mlir::sgd::makeOrthonormal(TensorMath& math, ArrayRef<Value> matrices) {
  SmallVector<Value> products, results;
  int64_t rank = tensorType(matrices.front()).getDimSize(1);
  for (Value matrix : matrices) products.push_back(math.reshape(math.dot(matrix, matrix, 0, 0), {1, rank, rank}));
  Value inverses = Elimination(math, products).run();
  for (auto [index, matrix] : llvm::enumerate(matrices)) {
    auto begin = static_cast<int64_t>(index);
    Value inverse = math.reshape(math.slice(inverses, {begin, 0, 0}, {begin + 1, rank, rank}), {rank, rank});
    results.push_back(math.dot(matrix, inverse, 1, 1));
  }
  return results;
}
