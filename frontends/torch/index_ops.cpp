// Ops that read and write at indices. Negative indices count from the end.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Value mlir::sgd::torch::wrapIndices(TensorMath& math, Value indices, int64_t size) {
  RankedTensorType type = tensorType(indices);
  Value zero = math.splat(type, int64_t{0}), wrapped = math.add(indices, math.splat(type, size));
  return math.select(math.isLess(indices, zero), wrapped, indices);
}

Value mlir::sgd::torch::takeAlong(TensorMath& math, Value value, Value indices, int64_t dim) {
  RankedTensorType type = tensorType(value), positions = tensorType(indices);
  SmallVector<int64_t> shape(type.getShape().take_front(dim)), offsets, slice(type.getShape());
  llvm::append_range(shape, positions.getShape());
  llvm::append_range(shape, type.getShape().drop_front(dim + 1));
  slice[dim] = 1;
  for (int64_t at = 0; at < static_cast<int64_t>(shape.size()); ++at)
    if (at < dim || at >= dim + positions.getRank()) offsets.push_back(at);
  return math.create<GatherOp>(
      type.clone(shape), value, indices, offsets, /*collapsed_slice_dims=*/ArrayRef<int64_t>{dim},
      /*operand_batching_dims=*/ArrayRef<int64_t>{}, /*indices_batching_dims=*/ArrayRef<int64_t>{},
      /*start_index_map=*/ArrayRef<int64_t>{dim}, /*index_vector_dim=*/positions.getRank(), slice,
      /*unsigned_indices=*/false);
}

/// All dimensions but `dim`.
static SmallVector<int64_t> getOthers(int64_t rank, int64_t dim) {
  SmallVector<int64_t> others;
  for (int64_t other = 0; other < rank; ++other)
    if (other != dim) others.push_back(other);
  return others;
}

Value mlir::sgd::torch::gatherAlong(TensorMath& math, Value value, Value index, int64_t dim) {
  RankedTensorType type = tensorType(value);
  int64_t rank = type.getRank();
  SmallVector<int64_t> ends(shapeOf(index)), none(rank, 0), ones(rank, 1), batch = getOthers(rank, dim);
  ends[dim] = type.getDimSize(dim);
  return math.create<GatherOp>(type.clone(shapeOf(index)), math.slice(value, none, ends), index, ArrayRef<int64_t>{},
                               ArrayRef<int64_t>{dim}, batch, batch, ArrayRef<int64_t>{dim}, rank, ones,
                               /*unsigned_indices=*/false);
}

Value mlir::sgd::torch::scatterAlong(TensorMath& math, Value value, Value index, Value updates, int64_t dim,
                                     ScatterKind kind) {
  int64_t rank = tensorType(value).getRank();
  SmallVector<int64_t> batch = getOthers(rank, dim);
  return math.create<ScatterOp>(value.getType(), value, index, updates, kind, ArrayRef<int64_t>{},
                                ArrayRef<int64_t>{dim}, batch, batch, ArrayRef<int64_t>{dim}, rank,
                                /*unsigned_indices=*/false, /*unique_indices=*/false);
}

namespace {

LogicalResult lowerEmbedding(AtenOp& op) {
  Value table = op.tensor("weight"), indices = op.tensor("indices");
  Value rows = takeAlong(op.math, table, indices, 0);
  int64_t padding = op.integer("padding_idx", -1);
  if (padding < 0) return op.finish(rows);
  // The row of padding has no gradient.
  Value constant = stopGradient(op.math.create<ReshapeOp>(op.type(), rows));
  Value isPadding = op.math.isEqual(indices, op.constant(tensorType(indices), static_cast<double>(padding)));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(indices).getRank()));
  return op.finish(op.math.select(op.math.broadcast(isPadding, dims, op.type().getShape()), constant, rows));
}

LogicalResult lowerIndexSelect(AtenOp& op) {
  Value value = op.tensor("self"), indices = op.tensor("index");
  if (tensorType(value).getRank() == 0) return op.finish(value);
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank());
  return op.finish(op.math.reshape(takeAlong(op.math, value, indices, dim), op.type().getShape()));
}

// Several indices
// -----------------------------------------------------------------------------------------------------------------

/// The indices of `x[i, :, j]`, broadcast to one shape.
struct IndexTuple {
  Value vectors;              // [.., number of dimensions]
  SmallVector<int64_t> dims;  // that are indexed
  int64_t at = 0, rank = 0;   // where the dimensions of the indices are in the result, and how many they are

  /// Dimensions of the result that are none of the indices'.
  SmallVector<int64_t> getWindow(int64_t resultRank) const {
    SmallVector<int64_t> window;
    for (int64_t dim = 0; dim < resultRank; ++dim)
      if (dim < at || dim >= at + rank) window.push_back(dim);
    return window;
  }
};

bool isMask(Value index) { return index && tensorType(index).getElementType().isInteger(1); }

FailureOr<IndexTuple> readIndices(AtenOp& op, Value value) {
  IndexTuple tuple;
  SmallVector<Value> present, all = op.tensors("indices");
  SmallVector<int64_t> shape;
  if (static_cast<int64_t>(all.size()) > tensorType(value).getRank())
    return op.error() << "has " << all.size() << " indices of " << tensorType(value).getRank()
                      << " dimensions; export the model anew";
  for (auto [dim, index] : llvm::enumerate(all)) {
    if (!index) continue;
    if (isMask(index))
      return op.error() << "is indexed by a mask, so that its size is not known, or by a mask and numbers; expected "
                           "integers; use torch.where";
    tuple.dims.push_back(static_cast<int64_t>(dim));
    present.push_back(wrapIndices(op.math, index, shapeOf(value)[dim]));
    widenShape(shape, shapeOf(index));
  }
  if (present.empty()) return op.error() << "has no index that is a tensor; expected one";
  // Indices that do not follow each other come first.
  bool isAdjacent = tuple.dims.back() - tuple.dims.front() + 1 == static_cast<int64_t>(tuple.dims.size());
  tuple.at = isAdjacent ? tuple.dims.front() : 0;
  tuple.rank = static_cast<int64_t>(shape.size());
  Type element = op.math.getBuilder().getI64Type();
  SmallVector<int64_t> column(shape);
  column.push_back(1);
  for (Value& index : present) index = op.math.reshape(op.expand(op.convert(index, element), shape), column);
  tuple.vectors = op.math.concatenate(present, tuple.rank);
  return tuple;
}

FailureOr<Value> readAtIndices(AtenOp& op) {
  Value value = op.tensor("self");
  FailureOr<IndexTuple> tuple = readIndices(op, value);
  if (failed(tuple)) return failure();
  SmallVector<int64_t> slice(shapeOf(value));
  for (int64_t dim : tuple->dims) slice[dim] = 1;
  return op.math.create<GatherOp>(op.type(), value, tuple->vectors, tuple->getWindow(op.type().getRank()), tuple->dims,
                                  ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, tuple->dims, tuple->rank, slice,
                                  /*unsigned_indices=*/false);
}

LogicalResult lowerIndex(AtenOp& op) {
  FailureOr<Value> read = readAtIndices(op);
  return failed(read) ? failure() : op.finish(*read);
}

/// `fill` where the mask is false, whatever the indices are there.
LogicalResult lowerMaskedIndex(AtenOp& op) {
  FailureOr<Value> read = readAtIndices(op);
  if (failed(read)) return failure();
  Value mask = op.operand("mask", op.type().clone(op.math.getBuilder().getI1Type()));
  return op.finish(op.math.select(mask, *read, op.operand("fill", op.type())));
}

/// Per element of `mask`, in row-major order, how many before it are true.
Value countBefore(AtenOp& op, Value mask) {
  RankedTensorType type = RankedTensorType::get({tensorType(mask).getNumElements()}, op.math.getBuilder().getI64Type());
  Value numbers = op.convert(op.math.reshape(mask, type.getShape()), type.getElementType());
  Value counts = op.math.create<CumulativeOp>(type, numbers, ReduceKind::Add, /*dimension=*/0, /*reverse=*/false);
  return op.math.reshape(op.math.subtract(counts, numbers), shapeOf(mask));
}

/// x[:, mask] = values, where each row that the mask selects gets the same, or its own in turn.
LogicalResult putByMask(AtenOp& op, Value mask, int64_t dim) {
  Value value = op.self(), values = op.convert(op.tensor("values"), op.element());
  ArrayRef<int64_t> shape = shapeOf(value), own = shapeOf(mask);
  int64_t behind = static_cast<int64_t>(shape.size()) - dim - static_cast<int64_t>(own.size());
  if (behind < 0 || own.empty() || shape.slice(dim, own.size()) != own)
    return op.error() << "has a mask that does not fit; export the model anew";
  // The selected elements are one dimension of the values.
  SmallVector<int64_t> wide(shapeOf(values));
  while (static_cast<int64_t>(wide.size()) < dim + 1 + behind) wide.insert(wide.begin(), 1);
  values = op.math.reshape(values, wide);
  if (wide[dim] == 1 && static_cast<int64_t>(wide.size()) == dim + 1 + behind) {
    wide.insert(wide.begin() + dim, static_cast<int64_t>(own.size()) - 1, 1);
    values = stretch(op.math, op.math.reshape(values, wide), shape);
  } else if (dim == 0 && static_cast<int64_t>(wide.size()) == 1 + behind) {
    values = op.expand(takeAlong(op.math, values, countBefore(op, mask), 0), shape);
  } else {
    return op.error() << "has values of a shape that is not supported with this mask; use torch.where";
  }
  auto dims = llvm::to_vector(llvm::seq<int64_t>(dim, dim + static_cast<int64_t>(own.size())));
  Value isChosen = op.math.broadcast(mask, dims, shape);
  if (op.flag("accumulate", false))
    values = op.element().isInteger(1) ? op.math.create<arith::OrIOp>(value, values) : op.math.add(value, values);
  return op.finish(op.math.select(isChosen, values, value));
}

/// Slices of `values` are put, or added, at the places that the indices name.
LogicalResult putAtIndices(AtenOp& op, bool accumulates) {
  Value value = op.tensor("self");
  SmallVector<Value> all = op.tensors("indices");
  if (llvm::count_if(all, [](Value index) { return bool(index); }) == 1)
    for (auto [dim, index] : llvm::enumerate(all))
      if (isMask(index)) return putByMask(op, index, static_cast<int64_t>(dim));
  FailureOr<IndexTuple> tuple = readIndices(op, value);
  if (failed(tuple)) return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(value)))
    if (!llvm::is_contained(tuple->dims, static_cast<int64_t>(dim))) shape.push_back(size);
  ArrayRef<int64_t> places = shapeOf(tuple->vectors).drop_back();
  shape.insert(shape.begin() + tuple->at, places.begin(), places.end());
  Value updates = op.expand(op.convert(op.tensor("values"), op.element()), shape);
  if (op.has("mask")) {
    RankedTensorType type = tensorType(updates);
    Value mask = op.operand("mask", type.clone(op.math.getBuilder().getI1Type()));
    updates = op.math.select(mask, updates, op.constant(type, 0));
  }
  ScatterKind kind = accumulates ? getSumKind(op.element()) : ScatterKind::Set;
  return op.finish(op.math.create<ScatterOp>(op.type(), value, tuple->vectors, updates, kind,
                                             tuple->getWindow(static_cast<int64_t>(shape.size())), tuple->dims,
                                             ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, tuple->dims, tuple->rank,
                                             /*unsigned_indices=*/false, /*unique_indices=*/false));
}

LogicalResult lowerIndexPut(AtenOp& op) { return putAtIndices(op, op.flag("accumulate", false)); }
LogicalResult lowerMaskedIndexAdd(AtenOp& op) { return putAtIndices(op, /*accumulates=*/true); }

/// Elements of `source`, in turn, where the mask is true.
LogicalResult lowerMaskedScatter(AtenOp& op) {
  Value mask = op.operand("mask", op.type().clone(op.math.getBuilder().getI1Type()));
  Value source = op.convert(op.tensor("source"), op.element());
  source = op.math.reshape(source, {tensorType(source).getNumElements()});
  if (tensorType(source).getNumElements() == 0) return op.finish(op.self());
  return op.finish(op.math.select(mask, takeAlong(op.math, source, countBefore(op, mask), 0), op.self()));
}

// One index per element
// -----------------------------------------------------------------------------------------------------------------

LogicalResult lowerGather(AtenOp& op) {
  Value value = op.tensor("self"), index = op.tensor("index");
  int64_t rank = tensorType(value).getRank(), dim = wrapDim(op.integer("dim", 0), rank);
  // A scalar is a vector of one element.
  if (rank == 0 || tensorType(index).getRank() == 0) {
    Value flat = op.math.reshape(value, {tensorType(value).getNumElements()});
    return op.finish(op.math.reshape(takeAlong(op.math, flat, index, 0), op.type().getShape()));
  }
  if (failed(op.requireSameRank(value, index))) return failure();
  return op.finish(gatherAlong(op.math, value, wrapIndices(op.math, index, shapeOf(value)[dim]), dim));
}

/// Elements of the flattened tensor.
LogicalResult lowerTake(AtenOp& op) {
  Value value = op.tensor("self");
  int64_t count = tensorType(value).getNumElements();
  Value index = wrapIndices(op.math, op.tensor("index"), count);
  return op.finish(takeAlong(op.math, op.math.reshape(value, {count}), index, 0));
}

/// gather after broadcasting; take without a dimension.
LogicalResult lowerTakeAlongDim(AtenOp& op) {
  Value value = op.tensor("self"), index = op.tensor("indices");
  if (!op.has("dim")) {
    int64_t count = tensorType(value).getNumElements();
    index = wrapIndices(op.math, op.math.reshape(index, {tensorType(index).getNumElements()}), count);
    return op.finish(
        op.math.reshape(takeAlong(op.math, op.math.reshape(value, {count}), index, 0), op.type().getShape()));
  }
  if (failed(op.requireSameRank(value, index))) return failure();
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank());
  SmallVector<int64_t> wide(op.type().getShape());
  index = stretch(op.math, index, wide);
  wide[dim] = shapeOf(value)[dim];
  value = stretch(op.math, value, wide);
  return op.finish(gatherAlong(op.math, value, wrapIndices(op.math, index, wide[dim]), dim));
}

LogicalResult lowerOneHot(AtenOp& op) {
  Value labels = op.tensor("self");
  int64_t last = op.type().getRank() - 1;
  Value classes = op.count(op.type().clone(tensorType(labels).getElementType()), last);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, last));
  return op.finish(
      op.convert(op.math.isEqual(op.math.broadcast(labels, dims, op.type().getShape()), classes), op.element()));
}

}  // namespace

void mlir::sgd::torch::addIndexOps(OpTable& table) {
  enter(table, {"embedding.default"}, {lowerEmbedding, {"weight", "indices"}, 1});
  enter(table, {"index_select.default"}, {lowerIndexSelect, {"self", "index"}});
  enter(table, {"index.Tensor", "_unsafe_index.Tensor"}, {lowerIndex, {"self"}, 1});
  enter(table, {"index_put.default", "_unsafe_index_put.default"}, {lowerIndexPut, {"self", "values"}});
  enter(table, {"_unsafe_masked_index.default"}, {lowerMaskedIndex, {"self", "mask"}, 1});
  enter(table, {"_unsafe_masked_index_put_accumulate.default"}, {lowerMaskedIndexAdd, {"self", "mask", "values"}});
  enter(table, {"masked_scatter.default"}, {lowerMaskedScatter, {"self", "mask", "source"}});
  enter(table, {"gather.default"}, {lowerGather, {"self", "index"}});
  enter(table, {"take.default"}, {lowerTake, {"self", "index"}});
  enter(table, {"take_along_dim.default"}, {lowerTakeAlongDim, {"self", "indices"}});
  enter(table, {"one_hot.default"}, lowerOneHot);
}
