// The pass sgd-expand-grouped-dots: a pattern that expands matmuls of rows by group to loops over groups and their
// tiles of rows, after the grouped matmuls of MegaBlocks (Gale et al., 2022) and JAX's megablox. A tile at the end of a
// group is computed for both groups that have rows in it: M + G * tile rows of work for M rows in G groups.
#include "dialects/sgd/by_rank.h"
#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/kernels/lowering/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_EXPANDGROUPEDDOTSPASS
#include "passes/kernels/lowering/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Fewer rows use a matmul's kernel badly, more are wasted at the ends of groups.
constexpr int64_t kLeastTile = 16, kGreatestTile = 128;

/// One matmul without leading dimensions.
class GroupedDot {
 public:
  GroupedDot(OpBuilder& builder, GroupedDotOp op, Value lhs, Value rhs, Value rows, Value groups)
      : builder(builder), op(op), loc(op.getLoc()), sizes(op), lhs(lhs), rhs(rhs), rows(rows), groups(groups) {
    int64_t wanted = llvm::PowerOf2Ceil(std::max<int64_t>(1, sizes.m / (4 * std::max<int64_t>(1, sizes.groups))));
    tile = std::min(sizes.m, std::clamp(wanted, kLeastTile, kGreatestTile));
  }

  Value expand();

 private:
  using Body = llvm::function_ref<SmallVector<Value>(ValueRange)>;

  template <typename OpTy, typename... Args>
  Value create(Args&&... args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  RankedTensorType type(Type element, ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, element); }
  RankedTensorType integers(ArrayRef<int64_t> shape) { return type(builder.getI32Type(), shape); }
  Value number(ArrayRef<int64_t> shape, int64_t value) {
    return create<arith::ConstantOp>(DenseElementsAttr::get(integers(shape), builder.getI32IntegerAttr(value)));
  }
  Value zeros(RankedTensorType of) { return create<arith::ConstantOp>(cast<TypedAttr>(builder.getZeroAttr(of))); }
  Value repeat(Value value, RankedTensorType to, ArrayRef<int64_t> dims) {
    return create<BroadcastInDimOp>(to, value, dims);
  }
  /// `sizes` elements of `from` at `start` along the first dimension, and at 0 along the others.
  Value take(Value from, Value start, int64_t count) {
    SmallVector<int64_t> shape(tensorType(from).getShape());
    shape[0] = count;
    return create<DynamicSliceOp>(tensorType(from).clone(shape), from, startsOf(from, start), shape);
  }
  Value put(Value into, Value part, Value start) {
    return create<DynamicUpdateSliceOp>(into.getType(), into, part, startsOf(into, start));
  }
  SmallVector<Value> startsOf(Value value, Value first) {
    SmallVector<Value> starts{first};
    starts.resize(tensorType(value).getRank(), number({}, 0));
    return starts;
  }
  /// The element of a vector, or the matrix of a stack.
  Value takeOne(Value from, Value index) {
    RankedTensorType stack = tensorType(from);
    return create<ReshapeOp>(stack.clone(stack.getShape().drop_front()), take(from, index, 1));
  }

  /// For each group: the tile that its first row is in, and the one behind that of its last row.
  std::pair<Value, Value> findTiles();
  /// A loop over `iter_args`, the first of which counts from what it is by one; `trips` times or, without, up to the
  /// second.
  SmallVector<Value> loop(std::optional<int64_t> trips, ArrayRef<Value> iterArgs, Body body);
  /// For tile `index`: where it begins, so that it ends in the tensor, and which of its rows are the group's and in no
  /// tile before.
  std::pair<Value, Value> findRows(Value index, Value allRows, Value label);
  Value multiply(Value left, Value right, int64_t leftDim, int64_t rightDim, Type element) {
    int64_t m = tensorType(left).getDimSize(1 - leftDim), n = tensorType(right).getDimSize(1 - rightDim);
    SmallVector<int64_t> none;
    return create<DotGeneralOp>(type(element, {m, n}), left, right, none, none, ArrayRef<int64_t>{leftDim},
                                ArrayRef<int64_t>{rightDim}, op.getTf32());
  }
  Value expandRows();
  Value expandContracted();

  OpBuilder& builder;
  GroupedDotOp op;
  Location loc;
  GroupedDotSizes sizes;
  Value lhs, rhs, rows, groups;
  int64_t tile;
};

std::pair<Value, Value> GroupedDot::findTiles() {
  RankedTensorType table = integers({sizes.groups, sizes.m});
  Value row = create<IotaOp>(table, 1);
  Value isIn = create<arith::CmpIOp>(arith::CmpIPredicate::eq, repeat(groups, table, {0}), repeat(rows, table, {1}));
  auto find = [&](int64_t otherwise, ReduceKind kind) {
    Value candidates = create<arith::SelectOp>(isIn, row, number(table.getShape(), otherwise));
    return create<ReduceOp>(integers({sizes.groups}), candidates, kind, ArrayRef<int64_t>{1});
  };
  auto toTile = [&](Value of) { return create<DivSIOp>(of, number({sizes.groups}, tile)); };
  Value first = toTile(find(sizes.m + tile, ReduceKind::Min));
  Value behind = create<arith::AddIOp>(find(-tile, ReduceKind::Max), number({sizes.groups}, tile));
  return {first, toTile(behind)};
}

SmallVector<Value> GroupedDot::loop(std::optional<int64_t> trips, ArrayRef<Value> iterArgs, Body body) {
  auto op = WhileOp::create(builder, loc, iterArgs, trips, [&](OpBuilder&, ValueRange arguments) {
    SmallVector<Value> next = body(arguments);
    next[0] = create<arith::AddIOp>(arguments[0], number({}, 1));
    return next;
  });
  OpBuilder::InsertionGuard guard(builder);
  if (!trips) {
    setByRank(op, true);
    SmallVector<Location> locs(iterArgs.size(), loc);
    Block* condition = builder.createBlock(&op.getCondition(), {}, ValueRange(iterArgs).getTypes(), locs);
    YieldOp::create(
        builder, loc,
        create<arith::CmpIOp>(arith::CmpIPredicate::slt, condition->getArgument(0), condition->getArgument(1)));
  }
  return llvm::to_vector_of<Value>(op.getResults());
}

std::pair<Value, Value> GroupedDot::findRows(Value index, Value allRows, Value label) {
  Value begin = create<arith::MulIOp>(index, number({}, tile));
  Value start = create<arith::MinSIOp>(begin, number({}, sizes.m - tile));
  RankedTensorType vector = integers({tile});
  Value row = create<arith::AddIOp>(create<IotaOp>(vector, 0), repeat(start, vector, {}));
  Value isNew = create<arith::CmpIOp>(arith::CmpIPredicate::sge, row, repeat(begin, vector, {}));
  Value isIn = create<arith::CmpIOp>(arith::CmpIPredicate::eq, take(allRows, start, tile), repeat(label, vector, {}));
  return {start, create<arith::AndIOp>(isNew, isIn)};
}

/// Rows of a tile that are another group's keep what that one's trip has written.
Value GroupedDot::expandRows() {
  auto [first, behind] = findTiles();
  RankedTensorType result = type(op.getType().getElementType(), {sizes.m, sizes.n});
  SmallVector<Value> iterArgs = {number({}, 0), lhs, rhs, rows, groups, first, behind, zeros(result)};
  return loop(sizes.groups, iterArgs, [&](ValueRange outer) {
    Value index = outer[0];
    SmallVector<Value> inner = {takeOne(outer[5], index),
                                takeOne(outer[6], index),
                                outer[1],
                                takeOne(outer[2], index),
                                outer[3],
                                takeOne(outer[4], index),
                                outer[7]};
    Value out = loop(std::nullopt, inner, [&](ValueRange iterArgs) {
      auto [start, mask] = findRows(iterArgs[0], iterArgs[4], iterArgs[5]);
      Value matmul =
          multiply(take(iterArgs[2], start, tile), iterArgs[3], 1, op.getTransposed() ? 1 : 0, result.getElementType());
      Value isIn = repeat(mask, tensorType(matmul).clone(builder.getI1Type()), {0});
      Value chosen = create<arith::SelectOp>(isIn, matmul, take(iterArgs[6], start, tile));
      SmallVector<Value> next(iterArgs);
      next[6] = put(iterArgs[6], chosen, start);
      return next;
    })[6];
    SmallVector<Value> next(outer);
    next[7] = out;
    return next;
  })[7];
}

/// Both operands are masked: another group's rows may hold infinities.
Value GroupedDot::expandContracted() {
  auto [first, behind] = findTiles();
  Type element = op.getType().getElementType(), sum = getAccumulatorType(element);
  RankedTensorType result = type(element, {sizes.groups, sizes.k, sizes.n});
  SmallVector<Value> iterArgs = {number({}, 0), lhs, rhs, rows, groups, first, behind, zeros(result)};
  return loop(sizes.groups, iterArgs, [&](ValueRange outer) {
    Value index = outer[0];
    SmallVector<Value> inner = {takeOne(outer[5], index),
                                takeOne(outer[6], index),
                                outer[1],
                                outer[2],
                                outer[3],
                                takeOne(outer[4], index),
                                zeros(type(sum, {sizes.k, sizes.n}))};
    Value total = loop(std::nullopt, inner, [&](ValueRange iterArgs) {
      auto [start, mask] = findRows(iterArgs[0], iterArgs[4], iterArgs[5]);
      auto takeMasked = [&, start = start, mask = mask](Value from) {
        Value rows = take(from, start, tile);
        Value isIn = repeat(mask, tensorType(rows).clone(builder.getI1Type()), {0});
        return create<arith::SelectOp>(isIn, rows, zeros(tensorType(rows)));
      };
      Value matmul = multiply(takeMasked(iterArgs[2]), takeMasked(iterArgs[3]), 0, 0, sum);
      SmallVector<Value> next(iterArgs);
      next[6] =
          isa<FloatType>(sum) ? create<arith::AddFOp>(iterArgs[6], matmul) : create<arith::AddIOp>(iterArgs[6], matmul);
      return next;
    })[6];
    if (sum != element) {
      RankedTensorType narrow = tensorType(total).clone(element);
      total = isa<FloatType>(sum) ? create<arith::TruncFOp>(narrow, total) : create<arith::TruncIOp>(narrow, total);
    }
    SmallVector<Value> next(outer);
    next[7] = put(outer[7], create<ReshapeOp>(type(element, {1, sizes.k, sizes.n}), total), index);
    return next;
  })[7];
}

Value GroupedDot::expand() {
  if (op.getType().getNumElements() == 0 || sizes.m == 0 || sizes.k == 0 || sizes.groups == 0)
    return zeros(type(op.getType().getElementType(), op.getType().getShape().drop_front(sizes.batch.size())));
  return op.getContracted() ? expandContracted() : expandRows();
}

/// Element `index` of the leading dimensions, all of them joined, without them.
Value takeFromBatch(OpBuilder& builder, Location loc, Value value, int64_t batchRank, int64_t batch, int64_t index) {
  ArrayRef<int64_t> own = tensorType(value).getShape().drop_front(batchRank);
  if (batchRank == 0) return value;
  SmallVector<int64_t> joined{batch}, starts{index}, limits{index + 1};
  for (SmallVector<int64_t>* list : {&joined, &limits}) llvm::append_range(*list, own);
  starts.resize(joined.size(), 0);
  Value all = ReshapeOp::create(builder, loc, tensorType(value).clone(joined), value);
  if (batch != 1) {
    SmallVector<int64_t> one(joined), strides(joined.size(), 1);
    one[0] = 1;
    all = SliceOp::create(builder, loc, tensorType(value).clone(one), all, starts, limits, strides);
  }
  return ReshapeOp::create(builder, loc, tensorType(value).clone(own), all);
}

LogicalResult expandGroupedDot(GroupedDotOp op, PatternRewriter& builder) {
  Location loc = op.getLoc();
  GroupedDotSizes sizes(op);
  auto rank = static_cast<int64_t>(sizes.batch.size());
  int64_t batch = llvm::product_of(sizes.batch);
  SmallVector<Value> parts;
  for (int64_t index = 0; index < batch; ++index) {
    auto take = [&](Value value) { return takeFromBatch(builder, loc, value, rank, batch, index); };
    Value part = GroupedDot(builder, op, take(op.getLhs()), take(op.getRhs()), take(op.getRows()), take(op.getGroups()))
                     .expand();
    SmallVector<int64_t> one{1};
    llvm::append_range(one, tensorType(part).getShape());
    parts.push_back(rank == 0 ? part : Value(ReshapeOp::create(builder, loc, tensorType(part).clone(one), part)));
  }
  RankedTensorType type = op.getType();
  if (parts.empty())
    parts.push_back(arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type))));
  Value all = parts[0];
  if (parts.size() > 1) {
    SmallVector<int64_t> shape(tensorType(all).getShape());
    shape[0] = batch;
    all = ConcatenateOp::create(builder, loc, type.clone(shape), parts, 0);
  }
  if (all.getType() != type) all = ReshapeOp::create(builder, loc, type, all);
  builder.replaceOp(op, all);
  return success();
}

struct ExpandGroupedDotsPass : mlir::sgd::impl::ExpandGroupedDotsPassBase<ExpandGroupedDotsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(expandGroupedDot);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

}  // namespace
