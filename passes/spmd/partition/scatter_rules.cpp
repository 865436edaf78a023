// A scatter onto an operand that is sharded along an indexed dimension: indices count from the start of the shard, and
// updates outside of it are dropped like any update outside. Windows along such a dimension become indices, one per
// element, because they may be only partly in this shard; whether they are dropped as a whole is decided before.
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/index_vectors.h"
#include "passes/spmd/partition/local_rules.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class LocalScatter {
 public:
  LocalScatter(ScatterOp op, const LocalisedOp& localised, ReshardEmitter& emitter, ArrayRef<Relocated> relocated);

  /// The scatter on this rank's shard.
  Value emit();

 private:
  SmallVector<Value> createStarts();
  void relocate(const Relocated& where, Value& start);

  ScatterOp op;
  ReshardEmitter& emitter;
  OpBuilder builder;
  Location loc;
  ArrayRef<int64_t> globalInput;
  RankedTensorType result;
  ArrayRef<Relocated> relocated;
  BatchDims batch;
  IndexMath math;
};
}  // namespace

static SmallVector<Relocated, 1> findRelocated(ScatterOp op, const LocalisedOp& localised, MeshAttr mesh) {
  SmallVector<Relocated, 1> relocated;
  ShardState state = getShardState(mesh, getSharding(localised.globalResults[0]));
  unsigned next = 0;
  for (auto [dim, size] : llvm::enumerate(localised.globalOperands[0].getShape())) {
    if (llvm::is_contained(op.getInputBatchingDims(), dim)) continue;
    std::optional<int64_t> window;
    if (!llvm::is_contained(op.getInsertedWindowDims(), dim)) window = op.getUpdateWindowDims()[next++];
    bool isWhole = window && localised.globalOperands[2].getDimSize(*window) == size;
    if (!isWhole && !state.dims[dim].empty())
      relocated.push_back({static_cast<int64_t>(dim), window, state.dims[dim], {}});
  }
  return relocated;
}

LocalScatter::LocalScatter(ScatterOp op, const LocalisedOp& localised, ReshardEmitter& emitter,
                           ArrayRef<Relocated> relocated)
    : op(op),
      emitter(emitter),
      builder(op),
      loc(op.getLoc()),
      globalInput(localised.globalOperands[0].getShape()),
      result(localised.localResults[0]),
      relocated(relocated),
      batch(shapeOf(op.getUpdates()), op.getUpdateWindowDims(), getMovedWindows(relocated)),
      math(builder, loc, globalInput) {}

/// From global starts along a dimension, -1 where nothing is written, to local indices of elements.
void LocalScatter::relocate(const Relocated& where, Value& start) {
  int64_t size = result.getDimSize(where.dim);
  Value offset = createShardOffset(emitter, math, loc, where.held, size);
  Value local = math.subtract(start, math.broadcast(offset, {}, batch.shape));
  if (!where.window) {
    start = local;
    return;
  }
  int64_t window = shapeOf(op.getUpdates())[*where.window];
  Value isInside = math.isInRange(start, 0, globalInput[where.dim] - window + 1);
  local = math.add(local, math.broadcast(math.iota(window), {batch.find(*where.window)}, batch.shape));
  start = math.select(isInside, local, -1);
}

/// Local starts along the dimensions of the map, then along those that were not indexed before.
SmallVector<Value> LocalScatter::createStarts() {
  auto find = [&](int64_t dim) {
    return llvm::find_if(relocated, [&](const Relocated& where) { return where.dim == dim; });
  };
  SmallVector<Value> starts;
  for (auto [component, dim] : llvm::enumerate(op.getScatterDimsToOperandDims())) {
    Value start = createComponent(builder, loc, op.getIndices(), op.getIndexVectorDim(), component);
    start = math.convert(start, op.getUnsignedIndices(), -1, globalInput[dim]);
    start = math.broadcast(start, batch.fromIndices, batch.shape);
    if (const auto* where = find(dim); where != relocated.end()) relocate(*where, start);
    starts.push_back(start);
  }
  for (const Relocated& where : relocated) {
    if (llvm::is_contained(op.getScatterDimsToOperandDims(), where.dim)) continue;
    starts.push_back(math.splat(0, batch.shape));
    relocate(where, starts.back());
  }
  return starts;
}

Value LocalScatter::emit() {
  SmallVector<int64_t> indexMap(op.getScatterDimsToOperandDims()), inserted(op.getInsertedWindowDims()), batching;
  for (const Relocated& where : relocated) {
    if (!llvm::is_contained(indexMap, where.dim)) indexMap.push_back(where.dim);
    if (where.window) inserted.push_back(where.dim);
  }
  llvm::sort(inserted);
  for (int64_t dim : op.getIndicesBatchingDims())
    batching.push_back(batch.fromIndices[dim - (static_cast<int64_t>(op.getIndexVectorDim()) < dim ? 1 : 0)]);
  Value indices = createIndexVectors(builder, loc, createStarts());
  return ScatterOp::create(builder, loc, result, op.getInput(), indices, op.getUpdates(), op.getKind(),
                           batch.windowDims, inserted, op.getInputBatchingDims(), batching, indexMap,
                           batch.shape.size(), /*unsigned_indices=*/false, op.getUniqueIndices());
}

static FailureOr<Value> localizeScatter(ScatterOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  SmallVector<Relocated, 1> relocated = findRelocated(op, localised, emitter.getMesh());
  if (relocated.empty()) {
    op.getResult().setType(localised.localResults[0]);
    return Value();
  }
  Value result = LocalScatter(op, localised, emitter, relocated).emit();
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return result;
}

void mlir::sgd::attachScatterRules(MLIRContext& context) { attachLocalRule<ScatterOp, localizeScatter>(context); }
