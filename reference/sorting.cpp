// Sorts by a comparator, and the largest elements of rows.
#include <numeric>

#include "mlir/IR/Matchers.h"
#include "dialects/fusion/fusion_dialect.h"
#include "reference/ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

static Tensor makeScalar(Type type) { return Tensor(RankedTensorType::get({}, type)); }

FailureOr<Tensor> reference::evaluateScalarBody(Block& body, Operands arguments) {
  llvm::DenseMap<Value, Tensor> known;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments)) known[argument] = *value;
  for (Operation& op : body.without_terminator()) {
    Tensor out = makeScalar(op.getResult(0).getType());
    if (Attribute constant; matchPattern(&op, m_Constant(&constant))) {
      out.fill(cast<TypedAttr>(constant));
    } else {
      SmallVector<const Tensor*> operands;
      for (Value operand : op.getOperands()) operands.push_back(&known.find(operand)->second);
      if (failed(evaluateOp(&op, operands, {&out}))) return failure();
    }
    known[op.getResult(0)] = std::move(out);
  }
  return known.lookup(body.getTerminator()->getOperand(0));
}

namespace {

/// Calls visit(index of each element of a row) for every row along `dim`.
template <typename Visit>
LogicalResult forEachRow(ArrayRef<int64_t> shape, int64_t dim, Visit visit) {
  int64_t stride = 1;
  for (int64_t size : shape.drop_front(dim + 1)) stride *= size;
  LogicalResult result = success();
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t flat) {
    if (index[dim] != 0 || failed(result)) return;
    SmallVector<int64_t> row(shape[dim]);
    for (int64_t i = 0; i < shape[dim]; ++i) row[i] = flat + i * stride;
    result = visit(ArrayRef<int64_t>(row));
  });
  return result;
}

LogicalResult sort(Operands in, int64_t dim, Block& comparator, Results out) {
  return forEachRow(in[0]->shape(), dim, [&](ArrayRef<int64_t> row) -> LogicalResult {
    bool hasFailed = false;
    auto comesFirst = [&](int64_t x, int64_t y) {
      std::vector<Tensor> scalars;
      for (const Tensor* tensor : in)
        for (int64_t at : {x, y}) scalars.push_back(makeScalar(tensor->element())), scalars.back().copy(0, *tensor, at);
      SmallVector<const Tensor*> arguments;
      for (Tensor& scalar : scalars) arguments.push_back(&scalar);
      FailureOr<Tensor> result = evaluateScalarBody(comparator, arguments);
      hasFailed |= failed(result);
      return succeeded(result) && result->integers[0] != 0;
    };
    // Insertion by halves: stable, and it ends whatever the comparator says.
    SmallVector<int64_t> order;
    for (int64_t at : row) order.insert(std::upper_bound(order.begin(), order.end(), at, comesFirst), at);
    for (auto [tensor, result] : llvm::zip(in, out))
      for (auto [to, from] : llvm::zip(row, order)) result->copy(to, *tensor, from);
    return failure(hasFailed);
  });
}

/// True when a is larger than b: -0 is less than +0, NaN beyond infinity.
bool isLarger(const Tensor& in, int64_t a, int64_t b, bool isUnsigned) {
  if (!in.isFloat())
    return isUnsigned ? asUnsigned(in.integers[a], in.element()) > asUnsigned(in.integers[b], in.element())
                      : in.integers[a] > in.integers[b];
  auto key = [](double x) {
    auto bits = llvm::bit_cast<int64_t>(x);
    return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
  };
  return key(in.floats[a]) > key(in.floats[b]);
}

void chooseLargest(TopKOp op, Operands operands, Results results) {
  const Tensor& in = *operands[0];
  Tensor &values = *results[0], &positions = *results[1];
  auto k = static_cast<int64_t>(op.getK());
  int64_t to = 0;
  (void)forEachRow(in.shape(), in.rank() - 1, [&](ArrayRef<int64_t> row) {
    SmallVector<int64_t> order(row);
    bool isUnsigned = op.getUnsignedElements();
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return isLarger(in, a, b, isUnsigned) || (a < b && !isLarger(in, b, a, isUnsigned));
    });
    for (int64_t i = 0; i < k; ++i, ++to) {
      values.copy(to, in, order[i]);
      positions.setInteger(to, order[i] - row[0]);
    }
    return success();
  });
}

LogicalResult evaluateSort(SortOp op, Operands in, Results out) {
  return sort(in, static_cast<int64_t>(op.getDimension()), op.getComparator().front(), out);
}

LogicalResult evaluateSortRows(fusion::SortRowsOp op, Operands in, Results out) {
  return sort(in, in[0]->rank() - 1, op.getComparator().front(), out.take_front(in.size()));
}

}  // namespace

void reference::addSorting(Evaluations& evaluations) {
  evaluations.add<SortOp>(evaluateSort);
  evaluations.add<fusion::SortRowsOp>(evaluateSortRows);
  evaluations.add<TopKOp>(chooseLargest);
}
