// Dynamic slices and updates along sharded dimensions. A block that starts anywhere overlaps a shard in part: elements
// outside are masked (slices); updates, which write a block no larger than their operand, replace the part in place.
#include "dialects/sgd/placement_hints.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/index_vectors.h"
#include "passes/spmd/partition/local_rules.h"

using namespace mlir;
using namespace mlir::sgd;

// Slices --------------------------------------------------------------------------------------------------------------

/// The slice as a gather of one window from the local operand, whose global shape is `global`.
static GatherOp createGather(DynamicSliceOp op, ArrayRef<int64_t> global, RankedTensorType resultType) {
  OpBuilder builder(op);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, op.getSizes().size()));
  IndexMath math(builder, op.getLoc(), global);
  SmallVector<Value> starts;
  for (auto [dim, start] : llvm::enumerate(op.getStarts()))
    starts.push_back(math.convert(start, /*isUnsigned=*/false, 0, global[dim] - op.getSizes()[dim]));
  Value indices = createIndexVectors(builder, op.getLoc(), starts);
  return GatherOp::create(builder, op.getLoc(), resultType, op.getInput(), indices, dims, ArrayRef<int64_t>{},
                          ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, dims, 0, op.getSizes(),
                          /*unsigned_indices=*/false);
}

namespace {
/// A dimension of a slice of which this rank holds, or wants, only a part.
struct Cut {
  int64_t dim;
  AxisParts held, wanted;
};
}  // namespace

static SmallVector<Cut, 1> findCuts(DynamicSliceOp op, const LocalisedOp& localised, MeshAttr mesh) {
  SmallVector<Cut, 1> cuts;
  ShardState input = getShardState(mesh, getSharding(localised.globalOperands[0]));
  ShardState result = getShardState(mesh, getSharding(localised.globalResults[0]));
  for (auto [dim, size] : llvm::enumerate(localised.globalOperands[0].getShape()))
    if (op.getSizes()[dim] != size && (!input.dims[dim].empty() || !result.dims[dim].empty()))
      cuts.push_back({static_cast<int64_t>(dim), input.dims[dim], result.dims[dim]});
  return cuts;
}

/// One block of the shard is enough: it is at most a single element, or is entirely inside.
static bool isOneBlock(const Cut& cut, const LocalisedOp& localised) {
  int64_t size = localised.localResults[0].getDimSize(cut.dim);
  return size <= 1 || (cut.held.empty() && localised.globalResults[0].getDimSize(cut.dim) % size == 0);
}

static FailureOr<Value> localizeDynamicSlice(DynamicSliceOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  SmallVector<Cut, 1> cuts = findCuts(op, localised, emitter.getMesh());
  RankedTensorType result = localised.localResults[0];
  if (!llvm::all_of(cuts, [&](const Cut& cut) { return isOneBlock(cut, localised); })) {
    GatherOp gather = createGather(op, localised.globalOperands[0].getShape(), localised.globalResults[0]);
    op.getResult().replaceAllUsesWith(gather.getResult());
    op.erase();
    return localizeOp({gather, localised.globalOperands, localised.globalResults, localised.localResults}, emitter);
  }
  OpBuilder builder(op);
  Location loc = op.getLoc();
  ArrayRef<int64_t> global = localised.globalOperands[0].getShape();
  IndexMath math(builder, loc, global);
  Value mask;
  // All starts become indices: those of a dynamic slice have one type.
  SmallVector<Value> starts;
  for (auto [dim, start] : llvm::enumerate(op.getStarts())) {
    starts.push_back(cuts.empty() ? start
                                  : math.convert(start, /*isUnsigned=*/false, 0, global[dim] - op.getSizes()[dim]));
    const auto* cut = llvm::find_if(cuts, [&](const Cut& cut) { return cut.dim == static_cast<int64_t>(dim); });
    if (cut == cuts.end()) continue;
    if (!cut->wanted.empty())
      starts.back() =
          math.add(starts.back(), createShardOffset(emitter, math, loc, cut->wanted, result.getDimSize(dim)));
    if (cut->held.empty()) continue;
    int64_t size = shapeOf(op.getInput())[dim];
    starts.back() = math.subtract(starts.back(), createShardOffset(emitter, math, loc, cut->held, size));
    if (hasHint(op, kOwnerOnlyAttr)) continue;
    mask = math.conjunction(mask, math.isInRange(starts.back(), 0, size));
  }
  op.getStartsMutable().assign(starts);
  op.setSizes(result.getShape());
  op.getResult().setType(result);
  op->removeDiscardableAttr(kOwnerOnlyAttr);
  if (!mask) return Value();
  builder.setInsertionPointAfter(op);
  Value masked = createMasked(builder, loc, op.getResult(), mask, {});
  op.getResult().replaceAllUsesExcept(masked, masked.getDefiningOp());
  return masked;
}

// Updates -------------------------------------------------------------------------------------------------------------

namespace {
/// An update clipped to this rank's shard.
class LocalUpdate {
 public:
  LocalUpdate(DynamicUpdateSliceOp op, const LocalisedOp& localised, ReshardEmitter& emitter)
      : op(op),
        emitter(emitter),
        builder(op),
        loc(op.getLoc()),
        global(localised.globalOperands[0].getShape()),
        globalUpdate(localised.globalOperands[1].getShape()),
        math(builder, loc, global),
        update(op.getUpdate()) {}

  /// `cuts`: dimensions that are sharded and of which the update is a part.
  void rewrite(ArrayRef<std::pair<int64_t, AxisParts>> cuts);

 private:
  Value clip(int64_t dim, const AxisParts& held, Value start);

  DynamicUpdateSliceOp op;
  ReshardEmitter& emitter;
  OpBuilder builder;
  Location loc;
  ArrayRef<int64_t> global, globalUpdate;
  IndexMath math;
  Value update;
  SmallVector<std::pair<Value, SmallVector<int64_t>>> masks;  // each with its dimensions of the update
};
}  // namespace

/// The local start of the block that is written: as much of the update as fits into a shard, moved inside where it
/// begins before or ends after. Rows of it that the update does not have keep what the operand holds.
Value LocalUpdate::clip(int64_t dim, const AxisParts& held, Value start) {
  int64_t shard = shapeOf(op.getInput())[dim], size = shapeOf(update)[dim], block = std::min(shard, size);
  start = math.subtract(start, createShardOffset(emitter, math, loc, held, shard));
  Value first = math.clamp(start, 0, shard - block);
  if (size == 1) {
    masks.push_back({math.isInRange(start, 0, shard), {}});
    return first;
  }
  Value rows = math.add(math.iota(block), math.broadcast(math.subtract(first, start), {}, {block}));
  masks.push_back({math.isInRange(rows, 0, size), {dim}});
  update = createTake(builder, loc, update, dim, rows);
  return first;
}

void LocalUpdate::rewrite(ArrayRef<std::pair<int64_t, AxisParts>> cuts) {
  SmallVector<Value> starts;
  for (auto [dim, start] : llvm::enumerate(op.getStarts()))
    starts.push_back(math.convert(start, /*isUnsigned=*/false, 0, global[dim] - globalUpdate[dim]));
  for (const auto& [dim, held] : cuts) starts[dim] = clip(dim, held, starts[dim]);
  auto type = cast<RankedTensorType>(update.getType());
  Value before = DynamicSliceOp::create(builder, loc, type, op.getInput(), starts, type.getShape());
  Value mask;
  for (const auto& [part, dims] : masks) mask = math.conjunction(mask, math.broadcast(part, dims, type.getShape()));
  op.getUpdateMutable().assign(arith::SelectOp::create(builder, loc, mask, update, before).getResult());
  op.getStartsMutable().assign(starts);
}

static FailureOr<Value> localizeDynamicUpdateSlice(DynamicUpdateSliceOp op, const LocalisedOp& localised,
                                                   ReshardEmitter& emitter) {
  ShardState state = getShardState(emitter.getMesh(), getSharding(localised.globalResults[0]));
  SmallVector<std::pair<int64_t, AxisParts>> cuts;
  for (auto [dim, held] : llvm::enumerate(state.dims))
    if (!held.empty() && localised.globalOperands[1].getDimSize(dim) != localised.globalOperands[0].getDimSize(dim))
      cuts.push_back({static_cast<int64_t>(dim), held});
  if (!cuts.empty() && localised.globalOperands[1].getNumElements() == 0) {
    // The update is empty.
    op.getResult().replaceAllUsesWith(op.getInput());
    op.erase();
    return Value();
  }
  if (!cuts.empty()) LocalUpdate(op, localised, emitter).rewrite(cuts);
  op.getResult().setType(localised.localResults[0]);
  return Value();
}

void mlir::sgd::attachDynamicSliceRules(MLIRContext& context) {
  attachLocalRule<DynamicSliceOp, localizeDynamicSlice>(context);
  attachLocalRule<DynamicUpdateSliceOp, localizeDynamicUpdateSlice>(context);
}
