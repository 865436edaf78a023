// A matmul behind the loop is followed by the ops that came behind it in the body: linear ones for sums.
#include "passes/time/hoist/loop_matmuls.h"

#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/graph/loops/edit_loop.h"

using namespace mlir;
using namespace mlir::sgd;

static int64_t getBytes(Value value) { return getByteSize(value.getType()); }

// Paths
// -----------------------------------------------------------------------------------------------------------------

namespace {

/// Follows the result of a matmul to sums and stacks.
class PathFinder {
 public:
  using Path = MovedMatmul::Path;

  explicit PathFinder(TripValues& values) : values(values) {}

  /// All paths of `matmul`; none unless each ends in a sum, or there is one, which ends in a stack.
  SmallVector<Path, 1> find(DotGeneralOp matmul) {
    bool isFollowed = follow(matmul.getResult(), Path());
    bool isOne = numStacks == 0 || paths.size() == 1;
    return isFollowed && isOne ? paths : SmallVector<Path, 1>();
  }
  bool isStacked() const { return numStacks > 0; }

 private:
  static constexpr size_t kMostPaths = 16, kMostOps = 16;

  bool follow(Value value, Path path) {
    if (value.use_empty() || path.ops.size() == kMostOps || paths.size() == kMostPaths) return false;
    return llvm::all_of(value.getUses(), [&](OpOperand& use) { return followUse(use, path); });
  }

  bool followUse(OpOperand& use, Path path) {
    Operation* op = use.getOwner();
    path.ops.push_back(op);
    if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) return endInStack(update, use, std::move(path));
    if (op->getNumResults() != 1 || op->getNumRegions() != 0) return false;
    if (isa<arith::AddFOp, arith::AddIOp>(op)) {
      if (!adds.insert(op).second) return false;  // of two paths: the other one would be dropped with this one
      auto sum = dyn_cast<BlockArgument>(op->getOperand(1 - use.getOperandNumber()));
      if (sum && isSum(sum, op)) {
        path.iterArg = sum.getArgNumber();
        paths.push_back(std::move(path));
        return true;
      }
      return follow(op->getResult(0), std::move(path));
    }
    bool isAlone = getLinearity(op, use.getOperandNumber(), ReduceKind::Add) == Linearity::Alone;
    bool areOthersUniform = llvm::all_of(
        op->getOpOperands(), [&](OpOperand& other) { return &other == &use || values.isUniform(other.get()); });
    return isAlone && areOthersUniform && TripValues::isCheap(op) && follow(op->getResult(0), std::move(path));
  }

  /// Whether `add` is all that happens to iter_arg `sum`.
  static bool isSum(BlockArgument sum, Operation* add) {
    auto loop = cast<WhileOp>(sum.getOwner()->getParentOp());
    return sum.hasOneUse() && add->hasOneUse() && loop.getYielded()[sum.getArgNumber()] == add->getResult(0);
  }

  bool endInStack(DynamicUpdateSliceOp update, OpOperand& use, Path path) {
    bool isAdded = llvm::any_of(path.ops, [](Operation* op) { return isa<arith::AddFOp, arith::AddIOp>(op); });
    if (&update.getUpdateMutable() != &use || !values.isRow(update) || isAdded) return false;
    path.iterArg = cast<BlockArgument>(update.getInput()).getArgNumber();
    paths.push_back(std::move(path));
    ++numStacks;
    return true;
  }

  TripValues& values;
  SmallVector<Path, 1> paths;
  SmallPtrSet<Operation*, 4> adds;
  unsigned numStacks = 0;
};

}  // namespace

// Choice
// ----------------------------------------------------------------------------------------------------------------

/// The operand that is the same in all trips, if that is one of the two.
static Value getWeights(TripValues& values, DotGeneralOp op) {
  bool isLeft = values.isUniform(op.getLhs()), isRight = values.isUniform(op.getRhs());
  return isLeft == isRight ? Value() : isLeft ? op.getLhs() : op.getRhs();
}

static std::optional<MovedMatmul> findProjection(TripValues& values, DotGeneralOp op) {
  Value weights = getWeights(values, op);
  if (!weights || !values.isKnown(op.getLhs()) || !values.isKnown(op.getRhs()) || !values.getRowIndex(op))
    return std::nullopt;
  MovedMatmul moved;
  moved.op = op;
  int64_t operand = values.getNewBytes(op.getLhs()) + values.getNewBytes(op.getRhs());
  moved.heldBytes = getBytes(op) + operand;
  moved.savedBytes = getBytes(weights) - 2 * moved.heldBytes;
  return moved;
}

static std::optional<MovedMatmul> findSunk(TripValues& values, DotGeneralOp op) {
  PathFinder finder(values);
  MovedMatmul moved;
  moved.op = op;
  moved.paths = finder.find(op);
  if (moved.paths.empty()) return std::nullopt;
  Value weights = getWeights(values, op);
  const bool isSum = !finder.isStacked();
  moved.kind = isSum ? MovedMatmul::Kind::Sum : MovedMatmul::Kind::Rows;
  // Rows without weights are as many matmuls behind the loop as in it.
  if (isSum ? values.isUniform(op.getLhs()) || values.isUniform(op.getRhs()) : !weights) return std::nullopt;
  for (Value operand : {op.getLhs(), op.getRhs()}) {
    Value base = TripValues::getBase(operand);
    if (!values.isKnownBehind(operand) && !llvm::is_contained(moved.stacked, base)) moved.stacked.push_back(base);
    if (values.isKnown(operand)) moved.heldBytes += values.getNewBytes(operand);
  }
  for (Value base : moved.stacked) moved.heldBytes += getBytes(base);
  // Rows are written in the loop or behind it.
  moved.savedBytes = (isSum ? 2 * getBytes(op) : getBytes(weights)) - 2 * moved.heldBytes;
  return moved;
}

std::optional<MovedMatmul> mlir::sgd::findMatmul(TripValues& values, int64_t heldBytes) {
  std::optional<MovedMatmul> best;
  for (auto op : values.getBody().getOps<DotGeneralOp>()) {
    std::optional<MovedMatmul> moved = findProjection(values, op);
    if (!moved) moved = findSunk(values, op);
    if (!moved || moved->savedBytes <= 0 || moved->heldBytes * values.getLoop().trips > heldBytes) continue;
    if (!best || moved->savedBytes > best->savedBytes) best = std::move(moved);
  }
  return best;
}

// Rewriting
// -------------------------------------------------------------------------------------------------------------

/// [rows, 1, ...] to [rows, ...].
static Value dropUnitDim(OpBuilder& builder, Value rows) {
  RankedTensorType type = tensorType(rows);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + 1);
  return ReshapeOp::create(builder, rows.getLoc(), type.clone(shape), rows);
}

static void moveProjection(TripValues& values, DotGeneralOp op) {
  OpBuilder front(values.getLoop().op);
  Batched lhs = values.get(front, op.getLhs()), rhs = values.get(front, op.getRhs());
  Value all = values.addInvariant(values.apply(front, op, {lhs, rhs}).value);
  OpBuilder builder(op);
  Value index = values.getRowIndex(op);
  Value row = readRow(builder, all, index);
  row = ReshapeOp::create(builder, op.getLoc(), op.getType(), row);
  op.replaceAllUsesWith(row);
  op.erase();
}

/// `op` over all trips: its contraction takes the rows too.
static Value createSum(OpBuilder& builder, DotGeneralOp op, Value lhs, Value rhs, RankedTensorType type) {
  auto behindRows = [](ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
  };
  SmallVector<int64_t> left = {0}, right = {0};
  llvm::append_range(left, behindRows(op.getLhsContracting()));
  llvm::append_range(right, behindRows(op.getRhsContracting()));
  return DotGeneralOp::create(builder, op.getLoc(), type, lhs, rhs, behindRows(op.getLhsBatching()),
                              behindRows(op.getRhsBatching()), left, right, op.getTf32());
}

/// Adds what `path` makes of `sum`, behind the loop, to the sum that comes out of it.
static void addBehind(OpBuilder& builder, TripValues& values, const MovedMatmul::Path& path, Value from, Value sum) {
  for (Operation* op : ArrayRef(path.ops).drop_back()) {
    Value next = op->getResult(0);
    if (!isa<arith::AddFOp, arith::AddIOp>(op)) {
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand, operand == from ? sum : values.get(builder, operand).value);
      sum = builder.clone(*op, mapping)->getResult(0);
    }
    from = next;
  }
  Value result = values.getLoop().op->getResult(path.iterArg);
  IRMapping mapping;
  Operation* add = path.ops.back();
  for (Value operand : add->getOperands()) mapping.map(operand, operand == from ? sum : result);
  Value total = builder.clone(*add, mapping)->getResult(0);
  result.replaceAllUsesExcept(total, total.getDefiningOp());
}

/// Takes `value` out of the sum that the body computes.
static void dropSummand(Value value, const MovedMatmul::Path& path) {
  for (Operation* op : path.ops) {
    if (!isa<arith::AddFOp, arith::AddIOp>(op)) {
      value = op->getResult(0);
      continue;
    }
    op->replaceAllUsesWith(ValueRange(op->getOperand(op->getOperand(0) == value ? 1 : 0)));
    return;
  }
}

static void moveSum(TripValues& values, const MovedMatmul& moved) {
  DotGeneralOp op = moved.op;
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(values.getLoop().op);
  Value lhs = values.get(builder, op.getLhs()).value, rhs = values.get(builder, op.getRhs()).value;
  // A sum that is only widened is not rounded first.
  Operation* widening = moved.paths.size() == 1 ? moved.paths[0].ops.front() : nullptr;
  bool isWide = isa_and_nonnull<arith::ExtFOp>(widening);
  Value sum = createSum(builder, op, lhs, rhs, isWide ? tensorType(widening->getResult(0)) : op.getType());
  for (MovedMatmul::Path path : moved.paths) {
    Value from = op.getResult();
    MovedMatmul::Path rest = path;
    if (isWide) {
      from = widening->getResult(0);
      rest.ops.erase(rest.ops.begin());
    }
    addBehind(builder, values, rest, from, sum);
    dropSummand(op.getResult(), path);
  }
}

static void moveRows(TripValues& values, const MovedMatmul& moved) {
  DotGeneralOp op = moved.op;
  WhileOp loop = values.getLoop().op;
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(loop);
  Batched rows = values.apply(builder, op, {values.get(builder, op.getLhs()), values.get(builder, op.getRhs())});
  const MovedMatmul::Path& path = moved.paths.front();
  Value from = op.getResult();
  for (Operation* next : ArrayRef(path.ops).drop_back()) {
    SmallVector<Batched> operands;
    for (Value operand : next->getOperands()) operands.push_back(operand == from ? rows : values.get(builder, operand));
    rows = values.apply(builder, next, operands);
    from = next->getResult(0);
  }
  loop->getResult(path.iterArg).replaceAllUsesWith(dropUnitDim(builder, rows.value));
  Block& body = values.getBody();
  body.getTerminator()->setOperand(path.iterArg, body.getArgument(path.iterArg));
}

void mlir::sgd::moveMatmul(TripValues& values, const MovedMatmul& moved) {
  for (Value value : moved.stacked) values.addStack(value);
  if (moved.kind == MovedMatmul::Kind::Projection) return moveProjection(values, moved.op);
  if (moved.kind == MovedMatmul::Kind::Sum)
    moveSum(values, moved);
  else
    moveRows(values, moved);
}
