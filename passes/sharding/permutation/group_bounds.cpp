// With keys in ascending order, position m is before the end of group g exactly if the key at m is at most g.
#include "passes/sharding/permutation/group_bounds.h"

#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isAscending(SortOp sort) {
  Block& body = sort.getComparator().front();
  auto compare = body.getTerminator()->getOperand(0).getDefiningOp<arith::CmpIOp>();
  if (!compare) return false;
  Value first = body.getArgument(0), second = body.getArgument(1);
  return (compare.getPredicate() == arith::CmpIPredicate::slt && compare.getLhs() == first &&
          compare.getRhs() == second) ||
         (compare.getPredicate() == arith::CmpIPredicate::sgt && compare.getLhs() == second &&
          compare.getRhs() == first);
}

/// The integer that all elements are.
static std::optional<int64_t> getInteger(Value value) {
  Operation* op = value.getDefiningOp();
  if (isa_and_nonnull<BroadcastInDimOp, ReshapeOp, SliceOp>(op)) return getInteger(op->getOperand(0));
  SplatElementsAttr splat = getSplatElements(value);
  if (!splat || !isa<IntegerType>(splat.getElementType())) return std::nullopt;
  return splat.getSplatValue<APInt>().trySExtValue();
}

/// The operand of ops that only reshape, or repeat nothing.
static Value stripShape(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    bool movesAll = isa<ReshapeOp, TransposeOp, OptimizationBarrierOp, ShardingConstraintOp>(op) ||
                    (isa<BroadcastInDimOp>(op) &&
                     tensorType(op->getOperand(0)).getNumElements() == tensorType(value).getNumElements());
    if (!movesAll) break;
    value = op->getOperand(cast<OpResult>(value).getResultNumber());
  }
  return value;
}

/// No element is negative.
static bool isNonNegative(Value value) {
  value = stripShape(value);
  if (std::optional<int64_t> integer = getInteger(value)) return *integer >= 0;
  Operation* op = value.getDefiningOp();
  if (isa_and_nonnull<IotaOp>(op)) return true;
  if (auto topK = dyn_cast_or_null<TopKOp>(op)) return value == topK.getPositions();
  if (isa_and_nonnull<arith::MaxSIOp>(op)) return llvm::any_of(op->getOperands(), isNonNegative);
  if (isa_and_nonnull<arith::MinSIOp>(op)) return llvm::all_of(op->getOperands(), isNonNegative);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return isNonNegative(select.getTrueValue()) && isNonNegative(select.getFalseValue());
  return false;
}

/// `value` without what JAX does to any index: negative ones count from the end.
static Value stripWrap(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto test = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  bool isWrap = test && test.getPredicate() == arith::CmpIPredicate::slt && test.getLhs() == select.getFalseValue() &&
                getInteger(test.getRhs()) == 0;
  return isWrap && isNonNegative(select.getFalseValue()) ? select.getFalseValue() : value;
}

/// The ops, last first, through which `index` is computed from `keys` in the order of keys; nullopt where it is not,
/// or may be negative.
static std::optional<SmallVector<Operation*>> findAdjustments(Value index, Value keys) {
  if (!isNonNegative(stripWrap(stripShape(index)))) return std::nullopt;
  SmallVector<Operation*> adjustments;
  for (Value base = stripShape(keys);;) {
    index = stripShape(stripWrap(stripShape(index)));
    if (index == base) return adjustments;
    Operation* op = index.getDefiningOp();
    if (!isa_and_nonnull<arith::MaxSIOp, arith::MinSIOp>(op)) return std::nullopt;
    bool isFirst = getInteger(op->getOperand(0)).has_value();
    if (!isFirst && !getInteger(op->getOperand(1))) return std::nullopt;
    adjustments.push_back(op);
    index = op->getOperand(isFirst ? 1 : 0);
  }
}

namespace {
/// A vector whose element g is the number of keys below g + shift.
struct Bounds {
  Value value;
  int64_t shift;
  Value counts;                  // of each key, in the same block
  std::optional<unsigned> pair;  // of loops, of which the second one has this block
};

/// A vector whose element g is the number of elements of `keys` that are g.
struct Counts {
  Value value, keys;
};
}  // namespace

/// The sum over keys of which of them are equal to the number of each group.
static std::optional<Counts> matchOneHot(ReduceOp sum) {
  Operation* extended = sum.getInput().getDefiningOp();
  RankedTensorType type = tensorType(sum.getInput());
  if (sum.getKind() != ReduceKind::Add || sum.getDimensions().size() != 1 || type.getRank() != 2 ||
      type.getElementTypeBitWidth() < 32 || !isa_and_nonnull<arith::ExtUIOp>(extended))
    return std::nullopt;
  auto equal = extended->getOperand(0).getDefiningOp<arith::CmpIOp>();
  if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq) return std::nullopt;
  int64_t keyDim = sum.getDimensions()[0];
  for (unsigned side : {0, 1}) {
    // Keys that are repeated, in each row or column, for all groups.
    Value keys = equal->getOperand(side), base = stripShape(keys);
    if (auto broadcast = keys.getDefiningOp<BroadcastInDimOp>()) {
      ArrayRef<int64_t> dims = broadcast.getDims();
      const auto* at = llvm::find(dims, keyDim);
      RankedTensorType from = tensorType(broadcast.getInput());
      if (at != dims.end() && from.getDimSize(at - dims.begin()) == from.getNumElements()) base = broadcast.getInput();
    }
    if (base != keys && tensorType(base).getNumElements() == type.getDimSize(keyDim) &&
        IndexFunctions().isIdentity({equal->getOperand(1 - side), 1 - keyDim}))
      return Counts{sum.getResult(), base};
  }
  return std::nullopt;
}

/// `scatter` adds one for each index to zeros: the number of times that each occurs.
static bool isCount(ScatterOp scatter) {
  return scatter.getKind() == ScatterKind::Add && scatter.getType().getRank() == 1 &&
         getInteger(scatter.getInput()) == 0 && getInteger(scatter.getUpdates()) == 1 &&
         scatter.getUpdateWindowDims().empty() && !scatter.getUnsignedIndices() &&
         scatter.getScatterDimsToOperandDims().size() == 1;
}

/// The bounds that `op` makes of `from`.
static std::optional<Bounds> getNext(Operation* op, const Bounds& from) {
  if (auto subtract = dyn_cast<arith::SubIOp>(op)) {
    if (from.shift == 1 && subtract.getLhs() == from.value && subtract.getRhs() == from.counts)
      return Bounds{subtract.getResult(), 0, from.counts, from.pair};
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    if (slice.getStrides()[0] == 1)
      return Bounds{slice.getResult(), from.shift + slice.getStarts()[0], from.counts, from.pair};
  } else if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    // No key is below 0.
    ValueRange inputs = concatenate.getInputs();
    if (from.shift == 1 && inputs.size() == 2 && inputs[1] == from.value && getInteger(inputs[0]) == 0 &&
        tensorType(inputs[0]).getNumElements() == 1)
      return Bounds{concatenate.getResult(), 0, from.counts, from.pair};
  }
  return std::nullopt;
}

/// Running sums of `counts`.
static void addSums(Value counts, std::optional<unsigned> pair, SmallVectorImpl<Bounds>& bounds) {
  for (Operation* user : counts.getUsers())
    if (auto sum = dyn_cast<CumulativeOp>(user); sum && sum.getKind() == ReduceKind::Add && !sum.getReverse())
      bounds.push_back({sum.getResult(), 1, counts, pair});
}

/// All bounds that are made of `counts`, there and in loops that read them from stacks.
static SmallVector<Bounds> findBounds(Value counts, ArrayRef<LoopPair> pairs) {
  SmallVector<Bounds> bounds;
  addSums(counts, std::nullopt, bounds);
  for (auto [number, pair] : llvm::enumerate(pairs))
    for (Value read : pair.findReads(counts)) addSums(read, number, bounds);
  for (size_t next = 0; next < bounds.size(); ++next) {
    Bounds from = bounds[next];
    for (Operation* user : from.value.getUsers())
      if (std::optional<Bounds> made = getNext(user, from)) bounds.push_back(*made);
    if (from.pair) continue;
    for (auto [number, pair] : llvm::enumerate(pairs))
      for (Value read : pair.findReads(from.value)) bounds.push_back({read, from.shift, Value(), number});
  }
  return bounds;
}

/// `op` as a comparison of positions with `bounds`, which are operand `side`, along `groupDim`.
static std::optional<GroupComparison> match(arith::CmpIOp op, unsigned side, int64_t groupDim, const Bounds& bounds,
                                            int64_t rows) {
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = op.getPredicate();
  bool isBelow = predicate == (side == 0 ? Predicate::sgt : Predicate::slt);
  if (!isBelow && predicate != (side == 0 ? Predicate::sle : Predicate::sge)) return std::nullopt;
  Value positions = op->getOperand(1 - side);
  for (auto [dim, size] : llvm::enumerate(tensorType(positions).getShape())) {
    auto rowDim = static_cast<int64_t>(dim);
    if (rowDim != groupDim && size == rows && IndexFunctions().isIdentity({positions, rowDim}))
      return GroupComparison{op, rowDim, groupDim, bounds.shift, isBelow, {}, bounds.pair};
  }
  return std::nullopt;
}

static SmallVector<GroupComparison> findComparisons(const Bounds& bounds, int64_t rows) {
  SmallVector<GroupComparison> found;
  for (Operation* user : bounds.value.getUsers()) {
    auto broadcast = dyn_cast<BroadcastInDimOp>(user);
    if (!broadcast || tensorType(bounds.value).getNumElements() == 1) continue;
    for (OpOperand& use : broadcast->getUses())
      if (auto compare = dyn_cast<arith::CmpIOp>(use.getOwner()))
        if (auto comparison = match(compare, use.getOperandNumber(), broadcast.getDims()[0], bounds, rows))
          found.push_back(*comparison);
  }
  return found;
}

SmallVector<GroupComparison> mlir::sgd::findGroupComparisons(SortOp sort, ArrayRef<LoopPair> pairs) {
  SmallVector<GroupComparison> found;
  Value keys = sort.getInputs()[0];
  auto element = dyn_cast<IntegerType>(tensorType(keys).getElementType());
  if (!isAscending(sort) || !element || element.getWidth() < 32) return found;
  int64_t rows = tensorType(keys).getNumElements();
  SmallVector<Counts> counts;
  for (auto scatter : sort->getBlock()->getOps<ScatterOp>())
    if (isCount(scatter)) counts.push_back({scatter.getResult(), scatter.getIndices()});
  for (auto sum : sort->getBlock()->getOps<ReduceOp>())
    if (std::optional<Counts> oneHot = matchOneHot(sum)) counts.push_back(*oneHot);
  for (const Counts& count : counts) {
    std::optional<SmallVector<Operation*>> adjustments = findAdjustments(count.keys, keys);
    if (!adjustments || tensorType(count.keys).getNumElements() != rows) continue;
    for (const Bounds& bounds : findBounds(count.value, pairs))
      for (GroupComparison& comparison : findComparisons(bounds, rows)) {
        comparison.adjustments = *adjustments;
        found.push_back(comparison);
      }
  }
  return found;
}

Value mlir::sgd::writeWithKeys(const GroupComparison& comparison, Value keys) {
  arith::CmpIOp op = comparison.op;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto splat = [&](RankedTensorType type, int64_t value) {
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
  };
  for (Operation* adjustment : llvm::reverse(comparison.adjustments)) {
    std::optional<int64_t> first = getInteger(adjustment->getOperand(0));
    Value bound = splat(tensorType(keys), first ? *first : *getInteger(adjustment->getOperand(1)));
    keys = isa<arith::MaxSIOp>(adjustment) ? arith::MaxSIOp::create(builder, loc, keys, bound).getResult()
                                           : arith::MinSIOp::create(builder, loc, keys, bound).getResult();
  }
  RankedTensorType type = tensorType(op.getLhs()).clone(tensorType(keys).getElementType());
  Value spread = BroadcastInDimOp::create(builder, loc, type, keys, ArrayRef<int64_t>{comparison.rowDim});
  Value groups = IotaOp::create(builder, loc, type, comparison.groupDim);
  if (comparison.shift != 0) groups = arith::AddIOp::create(builder, loc, groups, splat(type, comparison.shift));
  auto predicate = comparison.isBelow ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
  return arith::CmpIOp::create(builder, loc, predicate, spread, groups);
}
