// Tensors of several tensors.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Value mlir::sgd::torch::addDims(TensorMath& math, Value value, int64_t rank) {
  SmallVector<int64_t> shape(shapeOf(value));
  while (static_cast<int64_t>(shape.size()) < std::min<int64_t>(rank, 2)) shape.insert(shape.begin(), 1);
  if (static_cast<int64_t>(shape.size()) < rank) shape.push_back(1);
  return math.reshape(value, shape);
}

namespace {

int64_t getRankOf(Value value) { return tensorType(value).getRank(); }

/// Each operand in the shape of all of them.
LogicalResult lowerBroadcastTensors(AtenOp& op) {
  for (auto [output, tensor] : llvm::enumerate(op.tensors("tensors")))
    if (tensor && output < op.getNumOutputs()) (void)op.finish(op.expand(tensor, op.type(output).getShape()), output);
  return success();
}

/// Each vector along a dimension of its own; with indexing "xy" the first two change places.
LogicalResult lowerMeshGrid(AtenOp& op) {
  SmallVector<Value> vectors = op.tensors("tensors");
  bool isSwapped = op.text("indexing", "ij") == "xy" && vectors.size() > 1;
  for (auto [output, vector] : llvm::enumerate(vectors)) {
    if (!vector || getRankOf(vector) > 1 || output >= op.getNumOutputs())
      return op.error() << "has an operand that is no vector; expected vectors";
    int64_t dim = isSwapped && output < 2 ? 1 - static_cast<int64_t>(output) : static_cast<int64_t>(output);
    Value own = op.math.reshape(vector, {tensorType(vector).getNumElements()});
    (void)op.finish(op.math.broadcast(own, dim, op.type(output).getShape()), output);
  }
  return success();
}

/// All combinations of elements of vectors, one a row.
LogicalResult lowerCartesianProduct(AtenOp& op) {
  SmallVector<Value> vectors = op.tensors("tensors"), columns;
  SmallVector<int64_t> shape;
  for (Value vector : vectors) {
    if (!vector) return op.error() << "has an operand that is no vector; expected vectors";
    shape.push_back(tensorType(vector).getNumElements());
  }
  for (auto [dim, vector] : llvm::enumerate(vectors)) {
    Value own = op.convert(op.math.reshape(vector, {shape[dim]}), op.element());
    Value wide = op.math.broadcast(own, static_cast<int64_t>(dim), shape);
    columns.push_back(op.math.reshape(wide, {tensorType(wide).getNumElements(), 1}));
  }
  if (columns.empty()) return op.error() << "has no operands; expected one or more";
  return op.finish(op.math.reshape(op.math.concatenate(columns, 1), op.type().getShape()));
}

/// Along `dim`, or along `fixed` after parts have at least `leastRank` dimensions.
template <int64_t fixed = -1, int64_t leastRank = 1>
LogicalResult lowerConcatenate(AtenOp& op) {
  SmallVector<Value> parts;
  int64_t rank = op.type().getRank(), dim = wrapDim(fixed >= 0 ? fixed : op.integer("dim", 0), rank);
  for (Value part : op.tensors("tensors")) {
    if (!part) continue;
    if (fixed >= 0) part = addDims(op.math, part, leastRank);
    if (getRankOf(part) == rank) parts.push_back(op.convert(part, op.element()));  // PyTorch ignores empty vectors
  }
  if (parts.empty()) return op.error() << "has no operands; expected one or more";
  return op.finish(op.math.concatenate(parts, dim));
}

/// Vectors are columns.
LogicalResult lowerColumnStack(AtenOp& op) {
  SmallVector<Value> parts;
  for (Value part : op.tensors("tensors")) {
    if (!part) continue;
    if (getRankOf(part) < 2) part = op.math.reshape(part, {tensorType(part).getNumElements(), 1});
    parts.push_back(op.convert(part, op.element()));
  }
  if (parts.empty()) return op.error() << "has no operands; expected one or more";
  return op.finish(op.math.concatenate(parts, 1));
}

/// Matrices along the diagonal; a vector is a row.
LogicalResult lowerBlockDiagonal(AtenOp& op) {
  if (op.type().getRank() != 2) return op.error() << "has a result that does not fit; export the model anew";
  Value sum = op.splat(0), zero = op.constant(RankedTensorType::get({}, op.element()), 0);
  int64_t row = 0, column = 0, none[] = {0, 0};
  for (Value part : op.tensors("tensors")) {
    if (!part || getRankOf(part) > 2) return op.error() << "has an operand that is no matrix; expected matrices";
    part = op.convert(addDims(op.math, part, 2), op.element());
    int64_t low[] = {row, column};
    row += shapeOf(part)[0], column += shapeOf(part)[1];
    int64_t high[] = {op.type().getDimSize(0) - row, op.type().getDimSize(1) - column};
    Value own = op.math.create<PadOp>(op.type(), part, zero, low, high, none);
    sum = op.element().isInteger(1) ? op.math.create<arith::OrIOp>(sum, own) : op.math.add(sum, own);
  }
  return op.finish(sum);
}

/// Chunks of each tensor along `dim`, of equal size with zeros at the end, joined chunk by chunk.
LogicalResult lowerChunkConcatenate(AtenOp& op) {
  int64_t chunks = op.integer("num_chunks", 1);
  SmallVector<Value> parts;
  int64_t dim = op.integer("dim", 0);
  for (Value part : op.tensors("tensors")) {
    if (!part || getRankOf(part) == 0 || chunks < 1)
      return op.error() << "has an operand that does not fit; expected tensors of one or more dimensions, and chunks";
    part = op.convert(part, op.element());
    int64_t own = wrapDim(dim, getRankOf(part)), size = llvm::divideCeil(shapeOf(part)[own], chunks) * chunks;
    part = op.math.resize(part, own, size);
    SmallVector<int64_t> shape(shapeOf(part).take_front(own));
    shape.push_back(chunks);
    int64_t rest = 1;
    for (int64_t behind : shapeOf(part).drop_front(own + 1)) rest *= behind;
    shape.push_back(size / chunks * rest);
    parts.push_back(op.math.reshape(part, shape));
  }
  if (parts.empty()) return op.error() << "has no operands; expected one or more";
  return op.finish(op.math.concatenate(parts, op.type().getRank() - 1));
}

/// Each choice of `r` elements of a vector, in the order of their positions, one a row.
LogicalResult lowerCombinations(AtenOp& op) {
  constexpr int64_t kMost = 1 << 22;
  int64_t size = shapeOf(op.tensor("self"))[0], count = op.integer("r", 2);
  bool repeats = op.flag("with_replacement", false);
  if (count < 1 || op.type().getRank() != 2 || op.type().getDimSize(1) != count || op.type().getNumElements() > kMost)
    return op.error() << "chooses " << count << " of " << size << " elements; expected at most " << kMost
                      << " numbers; choose fewer";
  SmallVector<int64_t> positions, current(count, 0);
  for (int64_t at = 0; at < count && !repeats; ++at) current[at] = at;
  auto most = [&](int64_t at) { return repeats ? size - 1 : size - count + at; };
  for (int64_t row = 0; row < op.type().getDimSize(0); ++row) {
    llvm::append_range(positions, current);
    int64_t at = count - 1;
    while (at > 0 && current[at] == most(at)) --at;
    ++current[at];
    for (int64_t next = at + 1; next < count; ++next) current[next] = current[next - 1] + (repeats ? 0 : 1);
  }
  Value indices = op.math.reshape(op.vector(positions), op.type().getShape());
  return op.finish(takeAlong(op.math, op.tensor("self"), indices, 0));
}

/// Powers 0, 1, ... of each element, in a new last dimension.
LogicalResult lowerVandermonde(AtenOp& op) {
  constexpr int64_t kMost = 1024;
  Value x = op.convert(op.tensor("x"), op.element());
  if (getRankOf(x) == 0) x = op.math.reshape(x, {1});
  int64_t dim = getRankOf(x), count = op.integer("N", shapeOf(x).back());
  if (count < 1 || count > kMost) return op.error() << "has " << count << " powers; expected 1 to " << kMost;
  SmallVector<int64_t> shape(shapeOf(x));
  shape.push_back(1);
  x = op.math.reshape(x, shape);
  SmallVector<Value> powers = {op.constant(tensorType(x), 1)};
  while (static_cast<int64_t>(powers.size()) < count) powers.push_back(op.math.multiply(powers.back(), x));
  return op.finish(op.math.concatenate(powers, dim));
}

/// Each tensor with at least so many dimensions.
template <int64_t rank>
LogicalResult lowerAddDims(AtenOp& op) {
  for (auto [output, tensor] : llvm::enumerate(op.tensors("tensors")))
    if (tensor && output < op.getNumOutputs())
      (void)op.finish(rank == 1 && getRankOf(tensor) == 0 ? op.math.reshape(tensor, {1})
                                                          : addDims(op.math, tensor, rank == 1 ? 0 : rank),
                      output);
  return success();
}

LogicalResult lowerStack(AtenOp& op) {
  int64_t dim = wrapDim(op.integer("dim", 0), op.type().getRank());
  SmallVector<int64_t> shape(op.type().getShape());
  shape[dim] = 1;
  SmallVector<Value> parts;
  for (Value part : op.tensors("tensors"))
    if (part) parts.push_back(op.math.reshape(op.convert(part, op.element()), shape));
  if (parts.empty()) return op.error() << "has no operands; expected one or more";
  return op.finish(op.math.concatenate(parts, dim));
}

}  // namespace

void mlir::sgd::torch::addJoinOps(OpTable& table) {
  enter(table, {"broadcast_tensors.default"}, {lowerBroadcastTensors, {}});
  enter(table, {"meshgrid.default", "meshgrid.indexing"}, {lowerMeshGrid, {}});
  enter(table, {"cat.default", "concat.default", "concatenate.default"}, {lowerConcatenate<>, {}});
  enter(table, {"hstack.default"}, {lowerConcatenate<1>, {}});
  enter(table, {"vstack.default", "row_stack.default"}, {lowerConcatenate<0, 2>, {}});
  enter(table, {"dstack.default"}, {lowerConcatenate<2, 3>, {}});
  enter(table, {"column_stack.default"}, {lowerColumnStack, {}});
  enter(table, {"stack.default"}, {lowerStack, {}});
  enter(table, {"block_diag.default"}, {lowerBlockDiagonal, {}});
  enter(table, {"_chunk_cat.default"}, {lowerChunkConcatenate, {}});
  enter(table, {"combinations.default"}, {lowerCombinations, {"self"}, 1});
  enter(table, {"linalg_vander.default"}, {lowerVandermonde, {"x"}});
  enter(table, {"atleast_1d.Sequence"}, {lowerAddDims<1>, {}});
  enter(table, {"atleast_2d.Sequence"}, {lowerAddDims<2>, {}});
  enter(table, {"atleast_3d.Sequence"}, {lowerAddDims<3>, {}});
  enter(table, {"cartesian_prod.default"}, {lowerCartesianProduct, {}});
}
