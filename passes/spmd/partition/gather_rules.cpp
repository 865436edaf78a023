// A gather whose operand is sharded along an indexed dimension: indices are clamped as the whole op clamps them, then
// counted from the start of the shard; elements elsewhere are masked. Windows along such a dimension become indices,
// one per element, because they may be only partly on this rank.
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/index_vectors.h"
#include "passes/spmd/partition/local_rules.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class LocalGather {
 public:
  LocalGather(GatherOp op, const LocalisedOp& localised, ReshardEmitter& emitter, ArrayRef<Relocated> relocated);

  /// The gather on this rank's shard, masked where needed.
  Value emit();

 private:
  SmallVector<Value> createStarts();
  void relocate(const Relocated& where, Value& start);
  const Relocated* find(int64_t dim) const {
    const auto* found = llvm::find_if(relocated, [&](const Relocated& where) { return where.dim == dim; });
    return found == relocated.end() ? nullptr : found;
  }

  GatherOp op;
  ReshardEmitter& emitter;
  OpBuilder builder;
  Location loc;
  ArrayRef<int64_t> globalInput, localInput;
  RankedTensorType result;
  ArrayRef<Relocated> relocated;
  BatchDims batch;
  IndexMath math;
  Value mask;  // of the batch: which elements this rank holds
};
}  // namespace

/// Dimensions of the operand that are window dimensions of the result, with these.
static DenseMap<int64_t, int64_t> getWindows(GatherOp op) {
  DenseMap<int64_t, int64_t> windows;
  unsigned next = 0;
  for (int64_t dim = 0, rank = op.getSliceSizes().size(); dim < rank; ++dim)
    if (!llvm::is_contained(op.getCollapsedSliceDims(), dim) && !llvm::is_contained(op.getOperandBatchingDims(), dim))
      windows[dim] = op.getOffsetDims()[next++];
  return windows;
}

static SmallVector<Relocated, 1> findRelocated(GatherOp op, const LocalisedOp& localised, MeshAttr mesh) {
  SmallVector<Relocated, 1> relocated;
  DenseMap<int64_t, int64_t> windows = getWindows(op);
  ShardState input = getShardState(mesh, getSharding(localised.globalOperands[0]));
  ShardState result = getShardState(mesh, getSharding(localised.globalResults[0]));
  for (auto [dim, size] : llvm::enumerate(localised.globalOperands[0].getShape())) {
    if (llvm::is_contained(op.getOperandBatchingDims(), dim)) continue;
    auto window = windows.find(dim);
    if (window == windows.end()) {
      if (!input.dims[dim].empty()) relocated.push_back({static_cast<int64_t>(dim), std::nullopt, input.dims[dim], {}});
    } else if (op.getSliceSizes()[dim] != size) {
      AxisParts wanted = result.dims[window->second];
      if (!input.dims[dim].empty() || !wanted.empty())
        relocated.push_back({static_cast<int64_t>(dim), window->second, input.dims[dim], wanted});
    }
  }
  return relocated;
}

LocalGather::LocalGather(GatherOp op, const LocalisedOp& localised, ReshardEmitter& emitter,
                         ArrayRef<Relocated> relocated)
    : op(op),
      emitter(emitter),
      builder(op),
      loc(op.getLoc()),
      globalInput(localised.globalOperands[0].getShape()),
      localInput(shapeOf(op.getInput())),
      result(localised.localResults[0]),
      relocated(relocated),
      batch(result.getShape(), op.getOffsetDims(), getMovedWindows(relocated)),
      math(builder, loc, globalInput) {}

/// From the global start of slices along a dimension to local indices of their elements.
void LocalGather::relocate(const Relocated& where, Value& start) {
  auto addOffset = [&](Value offset, bool isNegative) {
    offset = math.broadcast(offset, {}, batch.shape);
    start = isNegative ? math.subtract(start, offset) : math.add(start, offset);
  };
  if (where.window) {
    int64_t size = result.getDimSize(*where.window);
    start = math.add(start, math.broadcast(math.iota(size), {batch.find(*where.window)}, batch.shape));
    if (!where.wanted.empty())
      addOffset(createShardOffset(emitter, math, loc, where.wanted, size), /*isNegative=*/false);
  }
  if (where.held.empty()) return;
  int64_t size = localInput[where.dim];
  addOffset(createShardOffset(emitter, math, loc, where.held, size), /*isNegative=*/true);
  mask = math.conjunction(mask, math.isInRange(start, 0, size));
}

/// Local starts along the dimensions of the start index map, then along those that were not indexed before.
SmallVector<Value> LocalGather::createStarts() {
  SmallVector<Value> starts;
  for (auto [component, dim] : llvm::enumerate(op.getStartIndexMap())) {
    Value start = createComponent(builder, loc, op.getIndices(), op.getIndexVectorDim(), component);
    start = math.convert(start, op.getUnsignedIndices(), 0, globalInput[dim] - op.getSliceSizes()[dim]);
    start = math.broadcast(start, batch.fromIndices, batch.shape);
    if (const Relocated* where = find(dim)) relocate(*where, start);
    starts.push_back(start);
  }
  for (const Relocated& where : relocated) {
    if (llvm::is_contained(op.getStartIndexMap(), where.dim)) continue;
    starts.push_back(math.splat(0, batch.shape));
    relocate(where, starts.back());
  }
  return starts;
}

/// Whole slices are those of the shard; the slices of a batching dimension stay single elements.
static SmallVector<int64_t> getLocalSizes(GatherOp op, ArrayRef<int64_t> globalInput) {
  SmallVector<int64_t> sizes(op.getSliceSizes());
  for (auto [dim, local] : llvm::enumerate(shapeOf(op.getInput())))
    if (sizes[dim] == globalInput[dim] && !llvm::is_contained(op.getOperandBatchingDims(), dim)) sizes[dim] = local;
  return sizes;
}

Value LocalGather::emit() {
  SmallVector<int64_t> indexMap(op.getStartIndexMap()), collapsed(op.getCollapsedSliceDims()), batching;
  SmallVector<int64_t> sizes = getLocalSizes(op, globalInput);
  for (const Relocated& where : relocated) {
    if (!llvm::is_contained(indexMap, where.dim)) indexMap.push_back(where.dim);
    if (where.window) collapsed.push_back(where.dim);
    sizes[where.dim] = 1;
  }
  llvm::sort(collapsed);
  for (int64_t dim : op.getIndicesBatchingDims())
    batching.push_back(batch.fromIndices[dim - (static_cast<int64_t>(op.getIndexVectorDim()) < dim ? 1 : 0)]);
  Value indices = createIndexVectors(builder, loc, createStarts());
  Value gathered = GatherOp::create(builder, loc, result, op.getInput(), indices, batch.windowDims, collapsed,
                                    op.getOperandBatchingDims(), batching, indexMap, batch.shape.size(), sizes,
                                    /*unsigned_indices=*/false);
  return mask ? createMasked(builder, loc, gathered, mask, batch.dims) : gathered;
}

static FailureOr<Value> localizeGather(GatherOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  SmallVector<Relocated, 1> relocated = findRelocated(op, localised, emitter.getMesh());
  if (relocated.empty()) {
    op.setSliceSizes(getLocalSizes(op, localised.globalOperands[0].getShape()));
    op.getResult().setType(localised.localResults[0]);
    return Value();
  }
  Value result = LocalGather(op, localised, emitter, relocated).emit();
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return result;
}

void mlir::sgd::attachGatherRules(MLIRContext& context) { attachLocalRule<GatherOp, localizeGather>(context); }
