// Ops that combine elements or slices with others at indices, and bags of embeddings.
#include "frontends/torch/memory.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// How values that meet at one index are combined.
struct Combination {
  ScatterKind kind = ScatterKind::Set;
  bool isMean = false;
};

FailureOr<Combination> readCombination(AtenOp& op, StringRef name) {
  bool isBoolean = op.element().isInteger(1);
  auto either = [&](ScatterKind ofNumbers, ScatterKind ofBooleans) {
    return Combination{isBoolean ? ofBooleans : ofNumbers};
  };
  if (name.empty()) return Combination();
  if (name == "add" || name == "sum") return either(ScatterKind::Add, ScatterKind::Or);
  if (name == "mean") return Combination{ScatterKind::Add, true};
  if (name == "multiply" || name == "prod") return either(ScatterKind::Mul, ScatterKind::And);
  if (name == "amax") return either(ScatterKind::Max, ScatterKind::Or);
  if (name == "amin") return either(ScatterKind::Min, ScatterKind::And);
  return op.error() << "combines values by '" << name << "'; expected sum, prod, mean, amax or amin";
}

/// The value that changes no other.
Value makeNeutral(AtenOp& op, RankedTensorType type, ScatterKind kind) {
  if (kind == ScatterKind::Add || kind == ScatterKind::Or) return op.constant(type, 0);
  if (kind == ScatterKind::Mul || kind == ScatterKind::And) return op.constant(type, 1);
  return op.extreme(type, kind == ScatterKind::Max);
}

/// Scatters updates by a function (values, updates, kind) of values.
template <typename Write>
Value combine(AtenOp& op, Value value, Value updates, Combination how, bool includesSelf, Write write) {
  Value base = value;
  if (!includesSelf) base = write(base, makeNeutral(op, tensorType(updates), how.kind), ScatterKind::Set);
  Value sum = write(base, updates, how.kind);
  if (!how.isMean) return sum;
  RankedTensorType type = tensorType(value);
  Value ones = op.constant(tensorType(updates), 1), one = op.constant(type, 1);
  Value count = write(includesSelf ? one : op.constant(type, 0), ones, ScatterKind::Add);
  count = op.math.select(op.math.isLess(count, one), one, count);
  return isa<FloatType>(type.getElementType()) ? op.math.divide(sum, count) : writeFloorDivide(op.math, sum, count);
}

// Elements
// -----------------------------------------------------------------------------------------------------------------

/// self[.., index[i, j, k], ..] = src[i, j, k] along `dim`. Where there are fewer indices than elements in another
/// dimension, the elements behind stay.
LogicalResult scatterElements(AtenOp& op, StringRef reduction, bool includesSelf) {
  Value value = op.self(), index = op.tensor("index"), source = op.tensor("src");
  FailureOr<Combination> how = readCombination(op, reduction);
  if (failed(how)) return failure();
  if (tensorType(value).getRank() == 0) value = op.math.reshape(value, {1});
  auto toVector = [&](Value of) { return of && tensorType(of).getRank() == 0 ? op.math.reshape(of, {1}) : of; };
  index = toVector(index), source = toVector(source);
  RankedTensorType type = tensorType(value), updates = type.clone(shapeOf(index));
  int64_t rank = type.getRank(), dim = wrapDim(op.integer("dim", 0), rank);
  if (failed(op.requireSameRank(value, index)) || (source && failed(op.requireSameRank(source, index))))
    return failure();
  if (updates.getNumElements() == 0) return op.finish(op.self());
  SmallVector<int64_t> none(rank, 0), ends(updates.getShape());
  source = source ? op.math.slice(op.convert(source, op.element()), none, ends) : op.operand("value", updates);
  ends[dim] = type.getDimSize(dim);
  Value part = ArrayRef<int64_t>(ends) == type.getShape() ? value : op.math.slice(value, none, ends);
  Value written = combine(op, part, source, *how, includesSelf, [&](Value into, Value from, ScatterKind kind) {
    return scatterAlong(op.math, into, index, from, dim, kind);
  });
  return op.finish(op.math.reshape(writeThrough(op.math, value, part, written), op.type().getShape()));
}

LogicalResult lowerScatter(AtenOp& op) { return scatterElements(op, op.text("reduce", ""), /*includesSelf=*/true); }
LogicalResult lowerScatterAdd(AtenOp& op) { return scatterElements(op, "add", /*includesSelf=*/true); }
LogicalResult lowerScatterReduce(AtenOp& op) {
  return scatterElements(op, op.text("reduce", ""), op.flag("include_self", true));
}

/// Elements of the flattened tensor.
LogicalResult lowerPut(AtenOp& op) {
  Value value = op.tensor("self"), index = op.tensor("index"), source = op.convert(op.tensor("source"), op.element());
  int64_t count = tensorType(value).getNumElements(), updates = tensorType(index).getNumElements();
  if (tensorType(source).getNumElements() != updates)
    return op.error() << "has a source that does not fit; export the model anew";
  ScatterKind kind = op.flag("accumulate", false) ? getSumKind(op.element()) : ScatterKind::Set;
  Value flat = op.math.reshape(value, {count}), places = wrapIndices(op.math, op.math.reshape(index, {updates}), count);
  Value written = scatterAlong(op.math, flat, places, op.math.reshape(source, {updates}), 0, kind);
  return op.finish(op.math.reshape(written, op.type().getShape()));
}

// Slices
// -----------------------------------------------------------------------------------------------------------------

/// Combines slices of `source` along `dim` with those that `index`, a vector, names.
Value scatterSlices(TensorMath& math, Value value, Value index, Value source, int64_t dim, ScatterKind kind) {
  SmallVector<int64_t> window;
  for (int64_t other = 0; other < tensorType(value).getRank(); ++other)
    if (other != dim) window.push_back(other);
  return math.create<ScatterOp>(value.getType(), value, index, source, kind, window, ArrayRef<int64_t>{dim},
                                ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, ArrayRef<int64_t>{dim}, 1,
                                /*unsigned_indices=*/false, /*unique_indices=*/false);
}

LogicalResult scatterRows(AtenOp& op, StringRef reduction, bool includesSelf) {
  Value value = op.self(), index = op.tensor("index"), source = op.tensor("source");
  FailureOr<Combination> how = readCombination(op, reduction);
  if (failed(how)) return failure();
  if (tensorType(value).getRank() == 0) value = op.math.reshape(value, {1});
  int64_t dim = wrapDim(op.integer("dim", 0), tensorType(value).getRank()), count = tensorType(index).getNumElements();
  SmallVector<int64_t> shape(shapeOf(value));
  shape[dim] = count;
  RankedTensorType updates = tensorType(value).clone(shape);
  if (source && tensorType(source).getNumElements() != updates.getNumElements())
    return op.error() << "has a source that does not fit; export the model anew";
  source = source ? op.math.reshape(op.convert(source, op.element()), shape) : op.operand("value", updates);
  if (op.number("alpha", 1) != 1) source = op.math.multiply(source, op.constant(updates, op.number("alpha", 1)));
  index = wrapIndices(op.math, op.math.reshape(index, {count}), shapeOf(value)[dim]);
  Value written = combine(op, value, source, *how, includesSelf, [&](Value into, Value from, ScatterKind kind) {
    return scatterSlices(op.math, into, index, from, dim, kind);
  });
  return op.finish(op.math.reshape(written, op.type().getShape()));
}

LogicalResult lowerIndexCopy(AtenOp& op) { return scatterRows(op, "", /*includesSelf=*/true); }
LogicalResult lowerIndexAdd(AtenOp& op) { return scatterRows(op, "add", /*includesSelf=*/true); }
LogicalResult lowerIndexReduce(AtenOp& op) {
  return scatterRows(op, op.text("reduce", ""), op.flag("include_self", true));
}

// Bags
// -----------------------------------------------------------------------------------------------------------------

/// Rows of a table that the indices of each bag name, added up, averaged, or their largest elements.
class EmbeddingBag {
 public:
  explicit EmbeddingBag(AtenOp& op)
      : op(op), math(op.math), indices(op.tensor("indices")), offsets(op.tensor("offsets")) {}

  LogicalResult lower() {
    if (tensorType(indices).getRank() != 1 || tensorType(offsets).getRank() != 1 || op.type().getRank() != 2)
      return op.error() << "has indices of " << tensorType(indices).getRank() << " dimensions; expected vectors";
    Value rows = takeAlong(math, op.tensor("weight"), indices, 0), counted = isCounted(), bags = findBags();
    if (Value weights = op.tensor("per_sample_weights"))
      rows = math.multiply(rows, math.broadcast(op.convert(weights, op.element()), 0, shapeOf(rows)));
    enum { Sum, Mean, Max };
    int64_t mode = op.integer("mode", Sum);
    RankedTensorType type = tensorType(rows);
    Value isRow = math.broadcast(counted, 0, type.getShape()), zero = op.constant(type, 0);
    auto gather = [&](Value from, double first, ScatterKind kind) {
      RankedTensorType result = op.type().clone(ArrayRef<int64_t>{op.type().getDimSize(0), shapeOf(from)[1]});
      return scatterSlices(math, op.constant(result, first), bags, from, 0, kind);
    };
    Value ones = math.select(isRow, op.constant(type, 1), zero), count = gather(ones, 0, ScatterKind::Add);
    if (mode == Max) {
      constexpr double kLowest = -std::numeric_limits<double>::infinity();
      Value largest = gather(math.select(isRow, rows, op.constant(type, kLowest)), kLowest, ScatterKind::Max);
      return op.finish(math.select(math.isEqual(count, op.splat(0)), op.splat(0), largest));
    }
    Value sum = gather(math.select(isRow, rows, zero), 0, ScatterKind::Add);
    if (mode != Mean) return op.finish(sum);
    return op.finish(math.divide(sum, math.select(math.isEqual(count, op.splat(0)), op.splat(1), count)));
  }

 private:
  /// Whether an index is none of padding.
  Value isCounted() {
    RankedTensorType type = tensorType(indices);
    int64_t padding = op.integer("padding_idx", -1);
    // The op that users call counts from the end; in its parts -1 is none.
    if (padding < 0 && op.isNamed("embedding_bag") && op.has("padding_idx")) padding += shapeOf(op.tensor("weight"))[0];
    if (padding < 0) return math.splat(type.clone(math.getBuilder().getI1Type()), int64_t{1});
    return math.negate(math.isEqual(indices, math.splat(type, padding)));
  }

  /// The bag of each index: how many offsets are not behind it, less one.
  Value findBags() {
    Type number = math.getBuilder().getI64Type();
    auto pairs =
        RankedTensorType::get({tensorType(indices).getNumElements(), tensorType(offsets).getNumElements()}, number);
    Value begins = math.broadcast(op.convert(offsets, number), 1, pairs.getShape());
    Value isBegun = op.convert(math.isAtLeast(op.count(pairs, 0), begins), number);
    Value count = math.reduce(isBegun, ReduceKind::Add, 1);
    Value bag = math.subtract(count, math.splat(tensorType(count), int64_t{1}));
    // The last offset may be the end.
    return math.minimum(bag, math.splat(tensorType(bag), op.type().getDimSize(0) - 1));
  }

  AtenOp& op;
  TensorMath& math;
  Value indices, offsets;
};

/// Rows that indices name are scaled down to a norm of `max_norm`.
LogicalResult lowerEmbeddingRenorm(AtenOp& op) {
  TensorMath& math = op.math;
  Value table = op.self(), indices = op.tensor("indices");
  indices = math.reshape(indices, {tensorType(indices).getNumElements()});
  Value norm = writeNorm(math, table, op.number("norm_type", 2), 1);
  RankedTensorType type = tensorType(norm);
  Value named =
      scatterSlices(math, op.constant(type, 0), indices,
                    op.constant(type.clone({tensorType(indices).getNumElements(), 1}), 1), 0, ScatterKind::Set);
  Value most = math.splat(type, op.number("max_norm", 0)), one = math.splat(type, 1.0);
  Value factor = math.divide(most, math.add(norm, math.splat(type, 1e-7)));
  Value isScaled = math.both(math.isLess(most, norm), math.isEqual(named, one));
  factor = math.select(isScaled, factor, one);
  return op.finish(math.multiply(table, stretch(math, factor, op.type().getShape())));
}

LogicalResult lowerEmbeddingBag(AtenOp& op) { return EmbeddingBag(op).lower(); }

}  // namespace

void mlir::sgd::torch::addScatterOps(OpTable& table) {
  enter(table, {"scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce"},
        {lowerScatter, {"self", "index"}});
  enter(table, {"scatter_add.default"}, {lowerScatterAdd, {"self", "index", "src"}});
  enter(table, {"scatter_reduce.two"}, {lowerScatterReduce, {"self", "index", "src"}});
  enter(table, {"put.default"}, {lowerPut, {"self", "index", "source"}});
  enter(table, {"index_copy.default"}, {lowerIndexCopy, {"self", "index", "source"}});
  enter(table, {"index_fill.int_Scalar", "index_fill.int_Tensor"}, {lowerIndexCopy, {"self", "index"}});
  enter(table, {"index_add.default"}, {lowerIndexAdd, {"self", "index", "source"}});
  enter(table, {"index_reduce.default"}, {lowerIndexReduce, {"self", "index", "source"}});
  enter(table, {"embedding_renorm_.default"}, {lowerEmbeddingRenorm, {"self", "indices"}, 2});
  enter(table,
        {"embedding_bag.default", "embedding_bag.padding_idx", "_embedding_bag.default",
         "_embedding_bag_forward_only.default"},
        {lowerEmbeddingBag, {"weight", "indices", "offsets"}, 2});
}
