// Ops that read and write at indices. Negative indices count from the end.
#include "dialects/sgd/no_gradient.h"
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// `indices` of a dimension of `size`, none of them negative.
Value wrapIndices(AtenOp& op, Value indices, int64_t size) {
  RankedTensorType type = tensorType(indices);
  Value zero = op.constant(type, 0), wrapped = op.math.add(indices, op.constant(type, static_cast<double>(size)));
  return op.math.select(op.math.isLess(indices, zero), wrapped, indices);
}

/// Slices of `value` where `indices` name positions of `dim`; the dimensions of the indices take the place of `dim`.
Value takeAlong(AtenOp& op, Value value, Value indices, int64_t dim) {
  RankedTensorType type = tensorType(value), positions = tensorType(indices);
  SmallVector<int64_t> shape(type.getShape().take_front(dim)), offsets, slice(type.getShape());
  llvm::append_range(shape, positions.getShape());
  llvm::append_range(shape, type.getShape().drop_front(dim + 1));
  slice[dim] = 1;
  for (int64_t at = 0; at < static_cast<int64_t>(shape.size()); ++at)
    if (at < dim || at >= dim + positions.getRank()) offsets.push_back(at);
  return op.math.create<GatherOp>(
      type.clone(shape), value, indices, offsets, /*collapsed_slice_dims=*/ArrayRef<int64_t>{dim},
      /*operand_batching_dims=*/ArrayRef<int64_t>{}, /*indices_batching_dims=*/ArrayRef<int64_t>{},
      /*start_index_map=*/ArrayRef<int64_t>{dim}, /*index_vector_dim=*/positions.getRank(), slice,
      /*unsigned_indices=*/false);
}

LogicalResult lowerEmbedding(AtenOp& op) {
  Value table = op.tensor("weight"), indices = op.tensor("indices");
  Value rows = takeAlong(op, table, indices, 0);
  int64_t padding = op.integer("padding_idx", -1);
  if (padding < 0) return op.finish(rows);
  // The row of padding has no gradient.
  Value constant = op.math.create<ReshapeOp>(op.type(), rows);
  constant.getDefiningOp()->setAttr(kNoGradientAttr, op.math.getBuilder().getUnitAttr());
  Value isPadding = op.math.isEqual(indices, op.constant(tensorType(indices), static_cast<double>(padding)));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(indices).getRank()));
  return op.finish(op.math.select(op.math.broadcast(isPadding, dims, op.type().getShape()), constant, rows));
}

LogicalResult lowerIndexSelect(AtenOp& op) {
  Value value = op.tensor("self"), indices = op.tensor("index");
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank());
  return op.finish(op.math.reshape(takeAlong(op, value, indices, dim), op.type().getShape()));
}

/// Indices of all dimensions before the first slice, as `x[i, j]` has them.
struct IndexTuple {
  Value vectors;  // [.., number of dimensions]
  int64_t first = 0, count = 0, rank = 0;
};

FailureOr<IndexTuple> readIndices(AtenOp& op, Value value) {
  IndexTuple tuple;
  SmallVector<Value> present;
  SmallVector<int64_t> shape;
  SmallVector<Value> all = op.tensors("indices");
  for (auto [dim, index] : llvm::enumerate(all)) {
    if (!index || static_cast<int64_t>(dim) >= tensorType(value).getRank()) continue;
    if (tensorType(index).getElementType().isInteger(1))
      return op.error() << "is indexed by a mask, so that its size is not known; expected integers; use torch.where";
    if (present.empty()) tuple.first = static_cast<int64_t>(dim);
    if (tuple.first + static_cast<int64_t>(present.size()) != static_cast<int64_t>(dim))
      return op.error()
             << "is indexed in dimensions that do not follow each other, which is not supported; permute it first";
    present.push_back(wrapIndices(op, index, shapeOf(value)[dim]));
    ArrayRef<int64_t> own = shapeOf(index);
    while (shape.size() < own.size()) shape.insert(shape.begin(), 1);
    for (size_t at = 0; at < own.size(); ++at) {
      int64_t& size = shape[shape.size() - own.size() + at];
      if (size == 1) size = own[at];
    }
  }
  if (present.empty() || static_cast<int64_t>(all.size()) > tensorType(value).getRank())
    return op.error() << "has " << all.size()
                      << " indices; expected one for each dimension at most, and one that is a tensor";
  tuple.count = present.size();
  tuple.rank = shape.size();
  Type element = op.math.getBuilder().getI64Type();
  SmallVector<int64_t> column(shape);
  column.push_back(1);
  for (Value& index : present) index = op.math.reshape(op.expand(op.convert(index, element), shape), column);
  tuple.vectors = op.math.concatenate(present, tuple.rank);
  return tuple;
}

LogicalResult lowerIndex(AtenOp& op) {
  Value value = op.tensor("self");
  FailureOr<IndexTuple> tuple = readIndices(op, value);
  if (failed(tuple)) return failure();
  SmallVector<int64_t> collapsed = llvm::to_vector(llvm::seq(tuple->first, tuple->first + tuple->count)), offsets,
                       slice(shapeOf(value));
  for (int64_t dim : collapsed) slice[dim] = 1;
  for (int64_t at = 0; at < op.type().getRank(); ++at)
    if (at < tuple->first || at >= tuple->first + tuple->rank) offsets.push_back(at);
  return op.finish(op.math.create<GatherOp>(op.type(), value, tuple->vectors, offsets, collapsed, ArrayRef<int64_t>{},
                                            ArrayRef<int64_t>{}, collapsed, tuple->rank, slice,
                                            /*unsigned_indices=*/false));
}

/// Slices of `values` are put, or added, at the places that the indices name.
LogicalResult lowerIndexPut(AtenOp& op) {
  Value value = op.tensor("self");
  FailureOr<IndexTuple> tuple = readIndices(op, value);
  if (failed(tuple)) return failure();
  SmallVector<int64_t> inserted = llvm::to_vector(llvm::seq(tuple->first, tuple->first + tuple->count)), window, shape;
  ArrayRef<int64_t> own = shapeOf(value), places = shapeOf(tuple->vectors).drop_back();
  for (int64_t dim = 0; dim < tuple->first; ++dim) window.push_back(shape.size()), shape.push_back(own[dim]);
  llvm::append_range(shape, places);
  for (int64_t dim = tuple->first + tuple->count; dim < static_cast<int64_t>(own.size()); ++dim)
    window.push_back(shape.size()), shape.push_back(own[dim]);
  Value updates = op.expand(op.convert(op.tensor("values"), op.element()), shape);
  ScatterKind kind = op.flag("accumulate", false) ? ScatterKind::Add : ScatterKind::Set;
  return op.finish(op.math.create<ScatterOp>(op.type(), value, tuple->vectors, updates, kind, window, inserted,
                                             ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, inserted, tuple->rank,
                                             /*unsigned_indices=*/false, /*unique_indices=*/false));
}

/// self[.., index[i, j, k], ..] along `dim`; the other dimensions of the index are positions of their own.
LogicalResult lowerGather(AtenOp& op) {
  Value value = op.tensor("self"), index = op.tensor("index");
  RankedTensorType type = tensorType(value);
  int64_t rank = type.getRank(), dim = wrapDim(op.integer("dim", 0), rank);
  if (failed(op.requireSameRank(value, index))) return failure();
  if (rank == 0) return op.finish(value);
  SmallVector<int64_t> batch, ends(type.getShape()), none(rank, 0), ones(rank, 1);
  for (int64_t other = 0; other < rank; ++other)
    if (other != dim) batch.push_back(other), ends[other] = shapeOf(index)[other];
  Value cut = op.math.slice(value, none, ends);
  return op.finish(op.math.create<GatherOp>(op.type(), cut, wrapIndices(op, index, type.getDimSize(dim)),
                                            ArrayRef<int64_t>{}, ArrayRef<int64_t>{dim}, batch, batch,
                                            ArrayRef<int64_t>{dim}, rank, ones, /*unsigned_indices=*/false));
}

/// The same the other way round.
template <ScatterKind kind>
LogicalResult lowerScatter(AtenOp& op) {
  Value value = op.tensor("self"), index = op.tensor("index");
  RankedTensorType type = tensorType(value);
  int64_t rank = type.getRank(), dim = wrapDim(op.integer("dim", 0), rank);
  if (failed(op.requireSameRank(value, index))) return failure();
  if (rank == 0) return op.error() << "writes to a scalar, which is not supported; use the source";
  SmallVector<int64_t> batch, none(rank, 0);
  for (int64_t other = 0; other < rank; ++other) {
    if (other == dim) continue;
    batch.push_back(other);
    if (shapeOf(index)[other] != type.getDimSize(other))
      return op.error() << "has fewer indices than elements in dimension " << other
                        << ", which is not supported; slice the operand first";
  }
  RankedTensorType updates = type.clone(shapeOf(index));
  Value source = op.tensor("src");
  if (source && failed(op.requireSameRank(source, index))) return failure();
  source = source ? op.math.slice(op.convert(source, op.element()), none, SmallVector<int64_t>(updates.getShape()))
                  : op.operand("value", updates);
  return op.finish(op.math.create<ScatterOp>(op.type(), value, index, source, kind, ArrayRef<int64_t>{},
                                             ArrayRef<int64_t>{dim}, batch, batch, ArrayRef<int64_t>{dim}, rank,
                                             /*unsigned_indices=*/false, /*unique_indices=*/false));
}

/// self[.., index[i], ..] += source[.., i, ..].
LogicalResult lowerIndexAdd(AtenOp& op) {
  Value value = op.tensor("self"), source = op.convert(op.tensor("source"), op.element());
  RankedTensorType type = tensorType(value);
  int64_t dim = wrapDim(op.integer("dim", 0), type.getRank());
  if (op.number("alpha", 1) != 1)
    source = op.math.multiply(source, op.constant(tensorType(source), op.number("alpha", 1)));
  SmallVector<int64_t> window;
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (other != dim) window.push_back(other);
  return op.finish(op.math.create<ScatterOp>(op.type(), value, op.tensor("index"), source, ScatterKind::Add, window,
                                             ArrayRef<int64_t>{dim}, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                             ArrayRef<int64_t>{dim}, 1,
                                             /*unsigned_indices=*/false, /*unique_indices=*/false));
}

LogicalResult lowerOneHot(AtenOp& op) {
  Value labels = op.tensor("self");
  int64_t last = op.type().getRank() - 1;
  RankedTensorType numbers = op.type().clone(op.math.getBuilder().getI32Type());
  Value classes = op.convert(op.math.create<IotaOp>(numbers, last), tensorType(labels).getElementType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, last));
  return op.finish(
      op.convert(op.math.isEqual(op.math.broadcast(labels, dims, op.type().getShape()), classes), op.element()));
}

}  // namespace

void mlir::sgd::torch::addIndexOps(OpTable& table) {
  table["embedding.default"] = {lowerEmbedding, {"weight", "indices"}, 1};
  table["index_select.default"] = {lowerIndexSelect, {"self", "index"}, 1};
  table["index.Tensor"] = {lowerIndex, {"self"}, 1};
  for (StringRef name : {"index_put.default", "index_put_.default"}) table[name] = {lowerIndexPut, {"self", "values"}};
  table["gather.default"] = {lowerGather, {"self", "index"}};
  for (StringRef name : {"scatter.src", "scatter.value", "scatter_.src", "scatter_.value"})
    table[name] = {lowerScatter<ScatterKind::Set>, {"self", "index"}};
  for (StringRef name : {"scatter_add.default", "scatter_add_.default"})
    table[name] = {lowerScatter<ScatterKind::Add>, {"self", "index", "src"}};
  for (StringRef name : {"index_add.default", "index_add_.default"})
    table[name] = {lowerIndexAdd, {"self", "index", "source"}, 1};
  table["one_hot.default"] = lowerOneHot;
}
