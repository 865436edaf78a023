// Sorts, the largest elements, and positions of extrema.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Elements with an order: booleans as integers of 8 bits.
Value toOrdered(AtenOp& op, Value value) {
  return tensorType(value).getElementType().isInteger(1) ? op.convert(value, op.math.getBuilder().getI8Type()) : value;
}

/// A dimension to work along; a scalar is a vector of one element.
struct Along {
  Along(AtenOp& op, StringRef name = "self") : value(toOrdered(op, op.tensor(name))) {
    if (tensorType(value).getRank() == 0) value = op.math.reshape(value, {1});
    dim = wrapDim(op.integer("dim", -1), tensorType(value).getRank());
  }

  int64_t getSize() const { return shapeOf(value)[dim]; }
  Value value;
  int64_t dim;
};

Value finishShape(AtenOp& op, Value value, unsigned output) {
  return op.convert(op.math.reshape(value, op.type(output).getShape()), op.element(output));
}

struct Sorted {
  Value values, positions;  // i32
};

/// NaN counts as larger than all numbers. Equal elements keep their order.
Sorted writeSort(TensorMath& math, Value value, int64_t dim, bool isDescending) {
  OpBuilder& builder = math.getBuilder();
  Location loc = math.getLoc();
  Value numbers = math.iota(shapeOf(value), dim);
  auto sort =
      SortOp::create(builder, loc, TypeRange{value.getType(), numbers.getType()}, ValueRange{value, numbers}, dim);
  OpBuilder::InsertionGuard guard(builder);
  Type element = tensorType(value).getElementType(), number = builder.getI32Type();
  Block& body = sort.getComparator().emplaceBlock();
  body.addArguments({element, element, number, number}, SmallVector<Location>(4, loc));
  builder.setInsertionPointToStart(&body);
  Value a = body.getArgument(isDescending ? 1 : 0), b = body.getArgument(isDescending ? 0 : 1), isFirst;
  if (isa<FloatType>(element)) {
    Value isLess = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
    Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, b, b);
    Value isNumber = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, a, a);
    isFirst = arith::OrIOp::create(builder, loc, isLess, arith::AndIOp::create(builder, loc, isNan, isNumber));
  } else {
    isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  }
  YieldOp::create(builder, loc, isFirst);
  return {sort.getResult(0), sort.getResult(1)};
}

LogicalResult lowerSort(AtenOp& op) {
  Along along(op);
  Sorted sorted = writeSort(op.math, along.value, along.dim, op.flag("descending", false));
  (void)op.finish(finishShape(op, sorted.values, 0), 0);
  return op.finish(finishShape(op, sorted.positions, 1), 1);
}

LogicalResult lowerArgSort(AtenOp& op) {
  Along along(op);
  return op.finish(
      finishShape(op, writeSort(op.math, along.value, along.dim, op.flag("descending", false)).positions, 0));
}

/// Along the first dimension.
LogicalResult lowerMSort(AtenOp& op) {
  Along along(op);
  return op.finish(finishShape(op, writeSort(op.math, along.value, 0, /*isDescending=*/false).values, 0));
}

/// Reverses the order of elements, without overflow.
Value mirror(TensorMath& math, Value value) {
  RankedTensorType type = tensorType(value);
  if (isa<FloatType>(type.getElementType())) return math.minus(value);
  return math.create<arith::XOrIOp>(value, math.splat(type, int64_t{-1}));
}

/// The k largest elements, or, mirrored, the smallest.
LogicalResult lowerTopK(AtenOp& op) {
  Along along(op);
  int64_t rank = tensorType(along.value).getRank(), k = op.integer("k", 1);
  bool isLargest = op.flag("largest", true);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[along.dim], order[rank - 1]);
  bool isLast = along.dim == rank - 1;
  Value moved = isLast ? along.value : op.math.transpose(along.value, order);
  if (!isLargest) moved = mirror(op.math, moved);
  SmallVector<int64_t> shape(shapeOf(moved));
  shape.back() = k;
  RankedTensorType values = tensorType(moved).clone(shape), positions = values.clone(op.math.getBuilder().getI32Type());
  auto top = TopKOp::create(op.math.getBuilder(), op.math.getLoc(), TypeRange{values, positions}, moved, k,
                            /*unsigned_elements=*/false);
  auto restore = [&](Value result) { return isLast ? result : op.math.transpose(result, order); };
  Value found = isLargest ? top.getValues() : mirror(op.math, top.getValues());
  (void)op.finish(finishShape(op, restore(found), 0), 0);
  return op.finish(finishShape(op, restore(top.getPositions()), 1), 1);
}

// Extrema
// -----------------------------------------------------------------------------------------------------------------

bool isFloat(AtenOp&, Value value) { return isa<FloatType>(tensorType(value).getElementType()); }

Value askNan(AtenOp& op, Value value) { return op.math.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value); }

/// The first position of the extremum along a dimension, which keeps size 1; the first NaN if there is one.
Value findPosition(AtenOp& op, Value value, int64_t dim, ReduceKind kind) {
  Value extremum = stretch(op.math, reduceKeeping(op.math, value, kind, dim), shapeOf(value));
  Value isFound = op.math.isEqual(value, extremum);
  if (isFloat(op, value)) isFound = op.math.create<arith::OrIOp>(isFound, askNan(op, value));
  Value position = op.math.iota(shapeOf(value), dim);
  Value none = op.math.splat(tensorType(position), shapeOf(value)[dim]);
  return reduceKeeping(op.math, op.math.select(isFound, position, none), ReduceKind::Min, dim);
}

/// The element at `position` of each row; only it has a gradient.
Value pick(AtenOp& op, Value value, Value position, int64_t dim) {
  Value wide = stretch(op.math, position, shapeOf(value));
  Value isHere = op.math.isEqual(op.math.iota(shapeOf(value), dim), wide);
  Value zero = op.constant(tensorType(value), 0);
  return reduceKeeping(op.math, op.math.select(isHere, value, zero), ReduceKind::Add, dim);
}

LogicalResult finishPick(AtenOp& op, Value value, Value position, int64_t dim) {
  (void)op.finish(finishShape(op, pick(op, value, position, dim), 0), 0);
  return op.getNumOutputs() < 2 ? success() : op.finish(finishShape(op, position, 1), 1);
}

template <ReduceKind kind>
LogicalResult lowerArgument(AtenOp& op) {
  Along along(op);
  if (!op.has("dim")) {
    along.value = op.math.reshape(along.value, {tensorType(along.value).getNumElements()});
    along.dim = 0;
  }
  return op.finish(finishShape(op, findPosition(op, along.value, along.dim, kind), 0));
}

/// max.dim and min.dim: values with positions.
template <ReduceKind kind>
LogicalResult lowerExtremum(AtenOp& op) {
  Along along(op);
  return finishPick(op, along.value, findPosition(op, along.value, along.dim, kind), along.dim);
}

// Elements by their place in the order
// -----------------------------------------------------------------------------------------------------------------

/// Positions in `value` of the element at place `place` of each sorted row.
Value findPlace(AtenOp& op, const Sorted& sorted, int64_t dim, Value place) {
  return pick(op, sorted.positions, place, dim);
}

LogicalResult lowerKthValue(AtenOp& op) {
  Along along(op);
  int64_t k = op.integer("k", 1);
  if (k < 1 || k > along.getSize()) return op.error() << "looks for element " << k << " of " << along.getSize();
  Sorted sorted = writeSort(op.math, along.value, along.dim, /*isDescending=*/false);
  SmallVector<int64_t> shape(shapeOf(along.value));
  shape[along.dim] = 1;
  Value place = op.math.splat(RankedTensorType::get(shape, op.math.getBuilder().getI32Type()), k - 1);
  return finishPick(op, along.value, findPlace(op, sorted, along.dim, place), along.dim);
}

/// The lower of two middle elements. NaN if there is one, or, of nanmedian, the median of the others.
template <bool ignoresNan>
LogicalResult lowerMedian(AtenOp& op) {
  Along along(op);
  if (!op.has("dim")) {
    along.value = op.math.reshape(along.value, {tensorType(along.value).getNumElements()});
    along.dim = 0;
  }
  Value value = along.value;
  Sorted sorted = writeSort(op.math, value, along.dim, /*isDescending=*/false);
  SmallVector<int64_t> shape(shapeOf(value));
  shape[along.dim] = 1;
  auto numbers = RankedTensorType::get(shape, op.math.getBuilder().getI32Type());
  Value place = op.math.splat(numbers, (along.getSize() - 1) / 2);
  if (isFloat(op, value)) {
    Value nans =
        reduceKeeping(op.math, op.convert(askNan(op, value), numbers.getElementType()), ReduceKind::Add, along.dim);
    Value zero = op.math.splat(numbers, int64_t{0}), size = op.math.splat(numbers, along.getSize());
    Value others = op.math.subtract(size, nans), one = op.math.splat(numbers, int64_t{1});
    Value middle = op.math.create<DivSIOp>(op.math.subtract(op.math.maximum(others, one), one),
                                           op.math.splat(numbers, int64_t{2}));
    // The first NaN follows the numbers.
    place = ignoresNan ? middle : op.math.select(op.math.isLess(zero, nans), others, place);
  }
  return finishPick(op, value, findPlace(op, sorted, along.dim, place), along.dim);
}

/// The most frequent element, the smallest of these, at its last position. Compares all pairs.
LogicalResult lowerMode(AtenOp& op) {
  Along along(op);
  constexpr int64_t kMost = 4096;
  if (along.getSize() > kMost || isa<BFloat16Type>(tensorType(along.value).getElementType()))
    return op.error() << "compares " << along.getSize() << " elements with each other; expected at most " << kMost;
  TensorMath& math = op.math;
  Value value = along.value;
  SmallVector<int64_t> shape(shapeOf(value)), pairs(shape), dims;
  pairs.push_back(along.getSize());
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    dims.push_back(dim == along.dim ? static_cast<int64_t>(shape.size()) : dim);
  Value own = math.repeat(value, along.getSize()), other = math.broadcast(value, dims, pairs);
  Type number = math.getBuilder().getI32Type();
  Value count =
      math.reduce(op.convert(math.isEqual(own, other), number), ReduceKind::Add, static_cast<int64_t>(shape.size()));
  Value most = stretch(math, reduceKeeping(math, count, ReduceKind::Max, along.dim), shape),
        isMost = math.isEqual(count, most);
  // Those that are not the most frequent come after all others, and equal ones in order.
  Sorted sorted = writeSort(math, value, along.dim, /*isDescending=*/false);
  Value isMostSorted = gatherAlong(math, isMost, sorted.positions, along.dim);
  Value place = math.iota(shape, along.dim), none = math.splat(tensorType(place), along.getSize());
  Value first = reduceKeeping(math, math.select(isMostSorted, place, none), ReduceKind::Min, along.dim);
  Value mode = pick(op, value, findPlace(op, sorted, along.dim, first), along.dim);
  Value isMode = math.isEqual(value, stretch(math, mode, shape)), before = math.splat(tensorType(place), int64_t{-1});
  Value last = reduceKeeping(math, math.select(isMode, place, before), ReduceKind::Max, along.dim);
  return finishPick(op, value, last, along.dim);
}

/// Elements at a share `q` of the order, between two where that is no element. NaN if there is one, or, of nanquantile,
/// among the others.
class Quantile {
 public:
  Quantile(AtenOp& op, bool ignoresNan) : op(op), math(op.math), ignoresNan(ignoresNan) {}

  LogicalResult lower() {
    Value value = op.convert(op.tensor("self"), op.element());
    bool isFlat = !op.has("dim") || tensorType(value).getRank() == 0;
    if (isFlat) value = math.reshape(value, {tensorType(value).getNumElements()});
    int64_t rank = tensorType(value).getRank(), dim = isFlat ? 0 : wrapDim(op.integer("dim", 0), rank);
    // Rows along the last dimension.
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    order.erase(order.begin() + dim);
    order.push_back(dim);
    Value rows = writeSort(math, math.transpose(value, order), rank - 1, /*isDescending=*/false).values;
    SmallVector<int64_t> shape(shapeOf(rows));
    int64_t size = shape.back(), shares = op.tensor("q") ? tensorType(op.tensor("q")).getNumElements() : 1;
    if (size < 1) return op.error() << "has no elements; expected one or more";
    shape.back() = shares;
    RankedTensorType type = tensorType(rows).clone(shape);
    Value q = op.tensor("q")
                  ? math.broadcast(math.reshape(op.convert(op.tensor("q"), op.element()), {shares}), rank - 1, shape)
                  : op.operand("q", type);
    Value isNan = op.convert(askNan(op, rows), op.element()),
          nans = reduceKeeping(math, isNan, ReduceKind::Add, rank - 1);
    nans = stretch(math, nans, shape);
    Value last = math.splat(type, static_cast<double>(size - 1)), zero = math.splat(type, 0.0);
    if (ignoresNan) last = writeClamp(math, math.subtract(last, nans), zero, {});
    Value found = interpolate(rows, math.multiply(q, last));
    if (!ignoresNan)
      found = math.select(math.isLess(zero, nans), math.splat(type, std::numeric_limits<double>::quiet_NaN()), found);
    if (!op.tensor("q") || tensorType(op.tensor("q")).getRank() == 0)
      return op.finish(math.reshape(found, op.type().getShape()));
    auto front = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
    front.insert(front.begin(), rank - 1);
    return op.finish(math.reshape(math.transpose(found, front), op.type().getShape()));
  }

 private:
  Value take(Value rows, Value place) {
    auto numbers = tensorType(place).clone(math.getBuilder().getI64Type());
    Value positions = math.create<FPToSIOp>(numbers, place);
    return gatherAlong(math, rows, positions, tensorType(rows).getRank() - 1);
  }

  Value interpolate(Value rows, Value place) {
    StringRef mode = op.text("interpolation", "linear");
    Value below = math.create<math::FloorOp>(place), above = math.create<math::CeilOp>(place);
    if (mode == "lower") return take(rows, below);
    if (mode == "higher") return take(rows, above);
    if (mode == "nearest") return take(rows, math.create<math::RoundEvenOp>(place));
    Value weight = mode == "midpoint" ? math.splat(tensorType(place), 0.5) : math.subtract(place, below);
    Value first = take(rows, below), step = math.subtract(take(rows, above), first);
    // Between equal elements, infinite ones too, there is no step.
    Value isSame = math.isEqual(below, above);
    return math.select(isSame, first, math.add(first, math.multiply(weight, step)));
  }

  AtenOp& op;
  TensorMath& math;
  bool ignoresNan;
};

template <bool ignoresNan>
LogicalResult lowerQuantile(AtenOp& op) {
  return Quantile(op, ignoresNan).lower();
}

/// The number of boundaries below each value; those equal to it count where `right`.
LogicalResult lowerSearchSorted(AtenOp& op) {
  bool isBucketize = op.has("boundaries");
  Value boundaries = op.tensor(isBucketize ? "boundaries" : "sorted_sequence");
  bool isRight = op.flag("right", false) || op.text("side", "left") == "right";
  if (op.tensor("sorter")) return op.error() << "has a sorter, which is not supported; sort the sequence first";
  SmallVector<int64_t> shape(op.type().getShape()), dims;
  int64_t rank = static_cast<int64_t>(shape.size()), own = tensorType(boundaries).getRank();
  if (own < 1 || (own > 1 && own != rank))
    return op.error() << "has a sequence that does not fit; export the model anew";
  shape.push_back(shapeOf(boundaries).back());
  RankedTensorType type = op.promote({"self", isBucketize ? "boundaries" : "sorted_sequence"}, op.type().getShape());
  Value value = op.math.repeat(op.operand("self", type), shape.back());
  for (int64_t dim = 0; dim + 1 < own; ++dim) dims.push_back(dim);
  dims.push_back(rank);
  // Each row of values meets its row of boundaries.
  Value wide = op.convert(boundaries, type.getElementType());
  if (own > 1) {
    SmallVector<int64_t> spread(shapeOf(wide));
    spread.insert(spread.end() - 1, 1);
    wide = stretch(op.math, op.math.reshape(wide, spread), shape);
  } else {
    wide = op.math.broadcast(wide, dims, shape);
  }
  Value isBelow = isRight ? op.math.isAtLeast(value, wide) : op.math.isLess(wide, value);
  if (isFloat(op, value)) {
    // NaN comes after all numbers.
    Value isNan = op.math.both(
        askNan(op, value), isRight ? op.math.splat(tensorType(isBelow), int64_t{1}) : op.math.negate(askNan(op, wide)));
    isBelow = op.math.create<arith::OrIOp>(isBelow, isNan);
  }
  return op.finish(op.math.reduce(op.convert(isBelow, op.element()), ReduceKind::Add, rank));
}

/// Whether an element is among others.
LogicalResult lowerIsIn(AtenOp& op) {
  StringRef own = op.has("elements") ? "elements" : "element",
            other = op.has("test_elements") ? "test_elements" : "test_element";
  SmallVector<int64_t> shape(op.type().getShape());
  RankedTensorType type = op.promote({own, other}, shape);
  if (type.getElementType().isInteger(1)) type = type.clone(op.math.getBuilder().getI8Type());
  int64_t count = op.tensor(other) ? tensorType(op.tensor(other)).getNumElements() : 1;
  Value value = op.math.repeat(op.operand(own, type), count), others;
  if (Value set = op.tensor(other))
    others = op.convert(op.math.reshape(set, {count}), type.getElementType());
  else
    others = op.operand(other, type.clone(ArrayRef<int64_t>{1}));
  Value isSame = op.math.isEqual(value, op.math.broadcast(others, op.type().getRank(), shapeOf(value)));
  Value isFound = op.math.reduce(isSame, ReduceKind::Or, op.type().getRank());
  return op.finish(op.flag("invert", false) ? op.math.negate(isFound) : isFound);
}

/// Numbers below n in a random order.
LogicalResult lowerRandomPermutation(AtenOp& op) {
  Value keys = op.drawUniform(op.type().clone(op.math.getBuilder().getF32Type()));
  return op.finish(op.convert(writeSort(op.math, keys, 0, /*isDescending=*/false).positions, op.element()));
}

}  // namespace

void mlir::sgd::torch::addOrderOps(OpTable& table) {
  enter(table, {"sort.default", "sort.stable"}, lowerSort);
  enter(table, {"argsort.default", "argsort.stable"}, lowerArgSort);
  enter(table, {"msort.default"}, lowerMSort);
  enter(table, {"topk.default"}, lowerTopK);
  enter(table, {"argmax.default"}, lowerArgument<ReduceKind::Max>);
  enter(table, {"argmin.default"}, lowerArgument<ReduceKind::Min>);
  enter(table, {"max.dim"}, lowerExtremum<ReduceKind::Max>);
  enter(table, {"min.dim"}, lowerExtremum<ReduceKind::Min>);
  enter(table, {"kthvalue.default"}, lowerKthValue);
  enter(table, {"median.default", "median.dim"}, lowerMedian<false>);
  enter(table, {"nanmedian.default", "nanmedian.dim"}, lowerMedian<true>);
  enter(table, {"mode.default"}, lowerMode);
  enter(table, {"quantile.default", "quantile.scalar"}, lowerQuantile<false>);
  enter(table, {"nanquantile.default", "nanquantile.scalar"}, lowerQuantile<true>);
  enter(table, {"searchsorted.Tensor", "searchsorted.Scalar"}, {lowerSearchSorted, {"sorted_sequence"}});
  enter(table, {"bucketize.Tensor", "bucketize.Scalar"}, {lowerSearchSorted, {"boundaries"}});
  enter(table, {"isin.Tensor_Tensor", "isin.Tensor_Scalar", "isin.Scalar_Tensor"}, {lowerIsIn, {}});
  enter(table, {"randperm.default"}, {lowerRandomPermutation, {}});
}
