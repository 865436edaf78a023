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
  enter(table, {"cartesian_prod.default"}, {lowerCartesianProduct, {}});
}
