// The pass sgd-split-top-k: a top_k whose operand is gathered along its rows chooses from each shard first.
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/sharding/propagation/mesh_axes.h"
#include "passes/sharding/propagation/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SPLITTOPKPASS
#include "passes/sharding/propagation/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Builds ops whose types carry shardings: each dimension's axes.
class ShardedBuilder {
 public:
  using Dims = SmallVector<DimShardingAttr>;

  ShardedBuilder(OpBuilder& builder, Location loc, ShardingAttr like) : builder(builder), loc(loc), like(like) {}

  RankedTensorType getType(ArrayRef<int64_t> shape, Type element, ArrayRef<DimShardingAttr> dims) {
    auto sharding = ShardingAttr::get(builder.getContext(), like.getMesh(), dims, {}, {}, ReduceKind::Add);
    return RankedTensorType::get(shape, element, sharding);
  }
  DimShardingAttr getWhole() { return DimShardingAttr::get(builder.getContext(), {}, /*isOpen=*/false, std::nullopt); }
  Value reshape(Value value, ArrayRef<int64_t> shape, ArrayRef<DimShardingAttr> dims) {
    return ReshapeOp::create(builder, loc, getType(shape, getElement(value), dims), value);
  }
  Value reshard(Value value, ArrayRef<DimShardingAttr> dims) {
    RankedTensorType type = getType(cast<RankedTensorType>(value.getType()).getShape(), getElement(value), dims);
    return type == value.getType() ? value : ReshardOp::create(builder, loc, type, value).getResult();
  }
  static Type getElement(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

  OpBuilder& builder;
  Location loc;
  ShardingAttr like;
};
}  // namespace

/// The reshard before `op` that makes its rows whole, by a gather or by sharding another dimension, when choosing
/// before it sends less; else null.
static ReshardOp findGather(TopKOp op, MeshAttr mesh) {
  auto reshard = op.getInput().getDefiningOp<ReshardOp>();
  if (!reshard || cast<RankedTensorType>(op.getPositions().getType()).getNumElements() == 0) return {};
  ShardingAttr from = getSharding(reshard.getInput().getType()), to = getSharding(reshard.getType());
  int64_t last = from.getRank() - 1, size = cast<RankedTensorType>(reshard.getType()).getDimSize(last);
  int64_t shards = from.getNumShards(last, mesh);
  bool isGather = !from.isPartial() && to.getDims()[last].getAxes().empty() && shards > 1 && size % shards == 0;
  // Reshapes carry no shards of dimensions without a second element.
  for (int64_t dim = 0; dim < last; ++dim)
    if (from.getNumShards(dim, mesh) > 1 && cast<RankedTensorType>(reshard.getType()).getDimSize(dim) == 1) return {};
  bool isSmaller = 2 * std::min<int64_t>(op.getK(), size / std::max<int64_t>(shards, 1)) * shards <= size;
  return isGather && isSmaller ? reshard : ReshardOp();
}

/// Candidates of each shard, then the largest of them. Shards are in the order of positions and equal candidates of a
/// shard too, so that of equal elements the one with the smallest position comes first, as without shards.
static void split(TopKOp op, ReshardOp gather, MeshAttr mesh, PatternRewriter& builder) {
  Location loc = op.getLoc();
  Value input = gather.getInput();
  auto type = cast<RankedTensorType>(input.getType());
  ShardingAttr sharding = getSharding(type);
  ShardedBuilder sharded(builder, loc, sharding);
  int64_t last = type.getRank() - 1, shards = sharding.getNumShards(last, mesh);
  int64_t rowSize = type.getDimSize(last) / shards, count = std::min<int64_t>(op.getK(), rowSize);
  Type integer = builder.getI32Type();
  SmallVector<int64_t> shape(type.getShape().drop_back());
  SmallVector<DimShardingAttr> dims(sharding.getDims().drop_back());
  auto extended = [](auto list, std::initializer_list<typename decltype(list)::value_type> more) {
    list.append(more);
    return list;
  };
  DimShardingAttr axes = sharding.getDims()[last], whole = sharded.getWhole();

  // [.., n] -> [.., shards, n / shards] -> the largest of each shard, with positions in the whole row.
  SmallVector<int64_t> chosenShape = extended(shape, {shards, count});
  SmallVector<DimShardingAttr> rowDims = extended(dims, {axes, whole});
  Value rows = sharded.reshape(input, extended(shape, {shards, rowSize}), rowDims);
  auto chosenType = sharded.getType(chosenShape, type.getElementType(), rowDims);
  RankedTensorType positionType = sharded.getType(chosenShape, integer, rowDims);
  auto chosen =
      TopKOp::create(builder, loc, TypeRange{chosenType, positionType}, rows, count, op.getUnsignedElements());
  Value shard = IotaOp::create(builder, loc, positionType, last);
  auto size = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(positionType, builder.getI32IntegerAttr(static_cast<int32_t>(rowSize))));
  Value offset = arith::MulIOp::create(builder, loc, shard, size);
  Value positions = arith::AddIOp::create(builder, loc, chosen.getPositions(), offset);

  // The candidates of all shards where the rows were wanted.
  SmallVector<int64_t> candidateShape = extended(shape, {shards * count});
  SmallVector<DimShardingAttr> wholeDims(getSharding(gather.getType()).getDims());
  auto collect = [&](Value value) {
    return sharded.reshard(sharded.reshape(value, candidateShape, extended(dims, {axes})), wholeDims);
  };
  Value values = collect(chosen.getValues());
  positions = collect(positions);
  auto largest = TopKOp::create(builder, loc, op.getResultTypes(), values, op.getK(), op.getUnsignedElements());

  // Their positions: one element of each row.
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, last));
  Value taken = GatherOp::create(
      builder, loc, op.getPositions().getType(), positions, largest.getPositions(), /*offset_dims=*/ArrayRef<int64_t>{},
      /*collapsed_slice_dims=*/ArrayRef<int64_t>{last}, batch, batch, ArrayRef<int64_t>{last},
      /*index_vector_dim=*/last + 1, SmallVector<int64_t>(last + 1, 1), /*unsigned_indices=*/false);
  builder.replaceOp(op, {largest.getValues(), taken});
  if (gather->use_empty()) builder.eraseOp(gather);
}

namespace {
struct SplitTopK : OpRewritePattern<TopKOp> {
  SplitTopK(MLIRContext* context, MeshAttr mesh) : OpRewritePattern(context), mesh(mesh) {}
  LogicalResult matchAndRewrite(TopKOp op, PatternRewriter& rewriter) const final {
    ReshardOp gather = findGather(op, mesh);
    if (!gather) return failure();
    split(op, gather, mesh, rewriter);
    return success();
  }
  MeshAttr mesh;
};

struct SplitTopKPass : mlir::sgd::impl::SplitTopKPassBase<SplitTopKPass> {
  using SplitTopKPassBase::SplitTopKPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) return;
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitTopK>(&getContext(), mesh.getMesh());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
}  // namespace
