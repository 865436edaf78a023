// Diagonals, strided views and windows of elements, and copies with a part replaced.
#include "frontends/torch/memory.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Two dimensions of a tensor, and where a diagonal of them is among their elements in row-major order.
struct Diagonal {
  int64_t rank, first, second, offset;

  Diagonal(AtenOp& op, int64_t rank, int64_t otherFirst, int64_t otherSecond)
      : rank(rank),
        first(wrapDim(op.integer("dim1", otherFirst), rank)),
        second(wrapDim(op.integer("dim2", otherSecond), rank)),
        offset(op.has("diagonal") ? op.integer("diagonal", 0) : op.integer("offset", 0)) {}

  /// The other dimensions, then these two.
  SmallVector<int64_t> getOrder() const {
    SmallVector<int64_t> order;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != first && dim != second) order.push_back(dim);
    order.append({first, second});
    return order;
  }
  int64_t getStart(int64_t columns) const { return offset >= 0 ? offset : -offset * columns; }
};

/// A slice of the elements in row-major order, columns + 1 apart.
FailureOr<Value> readDiagonal(AtenOp& op, Value value, const Diagonal& diagonal, int64_t count) {
  if (diagonal.first == diagonal.second) return op.error() << "has the same dimension twice; expected two";
  Value moved = op.math.transpose(value, diagonal.getOrder());
  SmallVector<int64_t> shape(shapeOf(moved));
  int64_t columns = shape.pop_back_val(), rows = shape.pop_back_val(), start = diagonal.getStart(columns);
  shape.push_back(rows * columns);
  int64_t end = count > 0 ? start + (count - 1) * (columns + 1) + 1 : start;
  if (count > 0 && end > rows * columns) return op.error() << "has a result that does not fit; export the model anew";
  start = std::min(start, rows * columns);
  return takeSlice(op.math, op.math.reshape(moved, shape), static_cast<int64_t>(shape.size()) - 1, start, end,
                   columns + 1);
}

LogicalResult lowerDiagonal(AtenOp& op) {
  Value value = op.tensor(op.has("A") ? "A" : "self");
  bool isMatrix = op.has("A");
  int64_t rank = tensorType(value).getRank();
  FailureOr<Value> result = readDiagonal(op, value, Diagonal(op, rank, isMatrix ? -2 : 0, isMatrix ? -1 : 1),
                                         op.type().getRank() ? op.type().getShape().back() : 0);
  return failed(result) ? failure() : op.finish(*result);
}

/// The last dimension of `value` on a diagonal of the result, zeros elsewhere.
LogicalResult embed(AtenOp& op, Value value, const Diagonal& diagonal) {
  SmallVector<int64_t> order = diagonal.getOrder(), shape, flat(shapeOf(value));
  for (int64_t dim : order) shape.push_back(op.type().getDimSize(dim));
  int64_t columns = shape.back(), count = flat.back(), size = shape[shape.size() - 2] * columns;
  int64_t start = diagonal.getStart(columns), end = count > 0 ? start + (count - 1) * (columns + 1) + 1 : start;
  if (diagonal.first == diagonal.second || end > size)
    return op.error() << "has a result that does not fit; export the model anew";
  flat.back() = size;
  SmallVector<int64_t> low(flat.size(), 0), high(low), interior(low);
  low.back() = start, high.back() = size - end, interior.back() = columns;
  Value zero = op.constant(RankedTensorType::get({}, op.element()), 0);
  Value spread = op.math.create<PadOp>(tensorType(value).clone(flat), value, zero, low, high, interior);
  return op.finish(op.math.transpose(op.math.reshape(spread, shape), invertPermutationVector(order)));
}

LogicalResult lowerDiagEmbed(AtenOp& op) {
  if (op.type().getRank() < 2) return op.error() << "has a result that does not fit; export the model anew";
  return embed(op, op.tensor("self"), Diagonal(op, op.type().getRank(), -2, -1));
}

/// A matrix of a vector, or a vector of a matrix.
LogicalResult lowerDiag(AtenOp& op) {
  Value value = op.tensor("self");
  if (op.type().getRank() == 2)
    return embed(op, op.math.reshape(value, {tensorType(value).getNumElements()}), Diagonal(op, 2, 0, 1));
  if (tensorType(value).getRank() != 2)
    return op.error() << "has an operand that does not fit; expected a vector or a matrix";
  FailureOr<Value> result = readDiagonal(op, value, Diagonal(op, 2, 0, 1), op.type().getShape().back());
  return failed(result) ? failure() : op.finish(*result);
}

/// The sum of the diagonal.
LogicalResult lowerTrace(AtenOp& op) {
  Value value = op.convert(op.tensor("self"), op.element());
  int64_t count = std::min(shapeOf(value)[0], shapeOf(value)[1]);
  FailureOr<Value> diagonal = readDiagonal(op, value, Diagonal(op, 2, 0, 1), count);
  return failed(diagonal) ? failure() : op.finish(op.math.reduce(*diagonal, ReduceKind::Add, 0));
}

/// `value` on the main diagonal; with `wrap`, on those below a square too.
LogicalResult lowerFillDiagonal(AtenOp& op) {
  ArrayRef<int64_t> shape = op.type().getShape();
  Value first = op.math.iota(shape, 0), isDiagonal;
  for (int64_t dim = 1; dim < op.type().getRank(); ++dim) {
    Value row = first;
    if (op.flag("wrap", false) && op.type().getRank() == 2)
      row = writeRemainder(op.math, first, op.math.splat(tensorType(first), shape[1] + 1));
    Value isSame = op.math.isEqual(row, op.math.iota(shape, dim));
    isDiagonal = isDiagonal ? op.math.both(isDiagonal, isSame) : isSame;
  }
  return op.finish(op.math.select(isDiagonal, op.operand("fill_value", op.type()), op.self()));
}

// Copies with a part replaced
// -----------------------------------------------------------------------------------------------------------------

LogicalResult finishWrite(AtenOp& op, Value part) {
  Value base = op.tensor("self"), source = op.convert(op.tensor("src"), op.element());
  if (shapeOf(source) != shapeOf(part)) return op.error() << "has a source that does not fit; export the model anew";
  return op.finish(writeThrough(op.math, base, part, source));
}

LogicalResult lowerSliceScatter(AtenOp& op) {
  Value base = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(base).getRank()), size = shapeOf(base)[dim];
  auto clamp = [&](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size); };
  int64_t begin = clamp(op.integer("start", 0)), end = clamp(op.integer("end", INT64_MAX));
  return finishWrite(op, takeSlice(op.math, base, dim, begin, end, op.integer("step", 1)));
}

LogicalResult lowerSelectScatter(AtenOp& op) {
  Value base = op.tensor("self");
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(base).getRank()), index = op.integer("index", 0);
  if (index < 0) index += shapeOf(base)[dim];
  Value slice = takeSlice(op.math, base, dim, index, index + 1);
  SmallVector<int64_t> shape(shapeOf(slice));
  shape.erase(shape.begin() + dim);
  return finishWrite(op, op.math.reshape(slice, shape));
}

LogicalResult lowerDiagonalScatter(AtenOp& op) {
  Value base = op.tensor("self"), source = op.tensor("src");
  FailureOr<Value> part = readDiagonal(op, base, Diagonal(op, tensorType(base).getRank(), 0, 1),
                                       tensorType(source).getRank() ? shapeOf(source).back() : 0);
  return failed(part) ? failure() : finishWrite(op, *part);
}

// Windows
// -----------------------------------------------------------------------------------------------------------------

/// The positions, in row-major order of `self`, of elements of memory at multiples of strides.
FailureOr<SmallVector<int64_t>> getStridedPositions(AtenOp& op, ArrayRef<int64_t> shape) {
  const TensorInfo* info = op.info("self");
  SmallVector<int64_t> strides = op.integers("stride");
  int64_t count = tensorType(op.tensor("self")).getNumElements();
  SmallVector<int64_t> positions{op.integer("storage_offset", 0)};
  constexpr int64_t kMost = 1 << 22;
  bool fits = info && info->isRowMajor() && info->offset == 0 && ShapedType::getNumElements(shape) <= kMost &&
              strides.size() == shape.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim) {
    SmallVector<int64_t> next;
    for (int64_t position : positions)
      for (int64_t at = 0; at < shape[dim]; ++at) next.push_back(position + at * strides[dim]);
    positions = next;
  }
  if (fits && llvm::all_of(positions, [&](int64_t position) { return position >= 0 && position < count; }))
    return positions;
  return op.error()
         << "reads memory outside of its operand, or of one that is a view, which is not supported; use slice, "
            "transpose or unfold";
}

LogicalResult lowerAsStrided(AtenOp& op) {
  FailureOr<SmallVector<int64_t>> positions = getStridedPositions(op, op.type().getShape());
  if (failed(positions)) return failure();
  Value flat = op.math.reshape(op.tensor("self"), {tensorType(op.tensor("self")).getNumElements()});
  return op.finish(op.math.reshape(takeAlong(op.math, flat, op.vector(*positions), 0), op.type().getShape()));
}

LogicalResult lowerAsStridedScatter(AtenOp& op) {
  Value source = op.convert(op.tensor("src"), op.element());
  FailureOr<SmallVector<int64_t>> positions = getStridedPositions(op, shapeOf(source));
  if (failed(positions)) return failure();
  Value flat = op.math.reshape(op.tensor("self"), {op.type().getNumElements()});
  source = op.math.reshape(source, {static_cast<int64_t>(positions->size())});
  Value written = scatterAlong(op.math, flat, op.vector(*positions), source, 0, ScatterKind::Set);
  return op.finish(op.math.reshape(written, op.type().getShape()));
}

/// Windows of `size` elements, `step` apart, in a new last dimension.
LogicalResult lowerUnfold(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t rank = tensorType(value).getRank(), size = op.integer("size", 1), step = op.integer("step", 1);
  if (rank == 0) return op.finish(op.math.reshape(value, op.type().getShape()));
  int64_t dim = wrapDim(op.integer("dimension", 0), rank), length = shapeOf(value)[dim];
  if (size < 0 || size > length || step < 1)
    return op.error() << "has windows of " << size << " elements of " << length << "; expected at most as many";
  int64_t count = (length - size) / step + 1;
  SmallVector<int64_t> indices;
  for (int64_t window = 0; window < count; ++window)
    for (int64_t at = 0; at < size; ++at) indices.push_back(window * step + at);
  Value windows = takeAlong(op.math, value, op.math.reshape(op.vector(indices), {count, size}), dim);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  return op.finish(op.math.transpose(windows, order));
}

}  // namespace

void mlir::sgd::torch::addViewOps(OpTable& table) {
  enter(table, {"diagonal.default", "diagonal_copy.default"}, {lowerDiagonal, {"self"}, 2});
  enter(table, {"linalg_diagonal.default"}, {lowerDiagonal, {"A"}, 2});
  enter(table, {"diag_embed.default"}, {lowerDiagEmbed, {"self"}, 1});
  enter(table, {"diag.default"}, {lowerDiag, {"self"}, 1});
  enter(table, {"diagflat.default"}, {lowerDiag, {"self"}});
  enter(table, {"trace.default"}, {lowerTrace, {"self"}, 2});
  enter(table, {"fill_diagonal_.default"}, {lowerFillDiagonal, {"self"}, 2});
  enter(table, {"slice_scatter.default"}, {lowerSliceScatter, {"self", "src"}, 1});
  enter(table, {"select_scatter.default"}, {lowerSelectScatter, {"self", "src"}, 1});
  enter(table, {"diagonal_scatter.default"}, {lowerDiagonalScatter, {"self", "src"}, 2});
  enter(table, {"as_strided.default", "as_strided_copy.default", "as_strided_.default"}, lowerAsStrided);
  enter(table, {"as_strided_scatter.default"}, {lowerAsStridedScatter, {"self", "src"}});
  enter(table, {"unfold.default", "unfold_copy.default"}, lowerUnfold);
}
