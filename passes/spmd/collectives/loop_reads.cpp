// Slices of a loop's invariant iter_args: block by block, or all at once before the loop.
#include "dialects/sgd/placement_hints.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/collectives/loop_collectives.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Slices of one iter_arg along the same dimensions, each followed by the reduction of what one rank holds.
struct Reads {
  unsigned iterArg;
  RankedTensorType gathered;  // of the iter_arg's value
  SmallVector<DynamicSliceOp> slices = {};
  ReshardCost sent = {},
              sentAfter = {};  // of an iteration: today, and of what is left to do once the iter_arg is gathered

  /// The type of a slice that reads the gathered value.
  static RankedTensorType getWhole(DynamicSliceOp slice) {
    ShardingAttr held = getSharding(slice.getType());
    return withSharding(slice.getType(),
                        ShardingAttr::get(slice.getContext(), held.getMesh(), held.getDims(), {}, {}, ReduceKind::Add));
  }
};

class LoopReads {
 public:
  LoopReads(WhileOp loop, const MeshAxes& mesh, ReshardCosts& costs) : loop(loop), mesh(mesh), costs(costs) {}

  unsigned gather(int64_t heldBytes);

 private:
  SmallVector<Reads> find();
  std::optional<RankedTensorType> getGathered(DynamicSliceOp slice) const;
  bool addCosts(DynamicSliceOp slice, Reads& reads);
  bool pays(const Reads& reads, int64_t trips);
  void rewrite(const Reads& reads, Value gathered);

  WhileOp loop;
  const MeshAxes& mesh;
  ReshardCosts& costs;
};
}  // namespace

/// The type of the slice's operand with the dimensions whole that the slice cuts. Nothing when these are not sharded.
std::optional<RankedTensorType> LoopReads::getGathered(DynamicSliceOp slice) const {
  RankedTensorType type = tensorType(slice.getInput());
  TensorAxes axes = mesh.toTensorAxes(getSharding(type));
  if (!axes.unreduced.empty()) return std::nullopt;
  bool isCut = false;
  for (auto [dim, size] : llvm::enumerate(slice.getSizes())) {
    if (size == type.getDimSize(dim) || axes.dims[dim].axes.empty()) continue;
    axes.dims[dim].axes.clear();
    isCut = true;
  }
  if (!isCut) return std::nullopt;
  return withSharding(type, mesh.toAttr(axes));
}

/// Adds what the uses of `slice` send. False when one does not reduce it.
bool LoopReads::addCosts(DynamicSliceOp slice, Reads& reads) {
  for (Operation* user : slice->getUsers()) {
    auto reshard = dyn_cast<ReshardOp>(user);
    if (!reshard) return false;
    RankedTensorType to = tensorType(reshard);
    if (getSharding(to).isPartial()) return false;
    std::optional<ReshardCost> now = costs.get(slice.getType(), to), after = costs.get(Reads::getWhole(slice), to);
    if (!now || !after) return false;
    reads.sent += *now;
    reads.sentAfter += *after;
  }
  return true;
}

SmallVector<Reads> LoopReads::find() {
  SmallVector<Reads> all;
  for (auto slice : loop.getBody().getOps<DynamicSliceOp>()) {
    auto argument = dyn_cast<BlockArgument>(slice.getInput());
    if (!argument || !loop.isInvariant(argument.getArgNumber()) || hasHint(slice, kOwnerOnlyAttr)) continue;
    std::optional<RankedTensorType> gathered = getGathered(slice);
    if (!gathered) continue;
    auto known = llvm::find_if(all, [&](const Reads& reads) {
      return reads.iterArg == argument.getArgNumber() && reads.gathered == *gathered;
    });
    if (known == all.end()) {
      all.push_back({.iterArg = argument.getArgNumber(), .gathered = *gathered});
      known = std::prev(all.end());
    }
    if (addCosts(slice, *known)) known->slices.push_back(slice);
  }
  return all;
}

bool LoopReads::pays(const Reads& reads, int64_t trips) {
  std::optional<ReshardCost> once = costs.get(tensorType(loop.getInits()[reads.iterArg]), reads.gathered);
  if (!once || reads.slices.empty()) return false;
  return once->sentBytes + reads.sentAfter.sentBytes * trips < reads.sent.sentBytes * trips;
}

void LoopReads::rewrite(const Reads& reads, Value gathered) {
  for (DynamicSliceOp slice : reads.slices) {
    RankedTensorType whole = Reads::getWhole(slice);
    slice.getInputMutable().assign(gathered);
    slice.getResult().setType(whole);
    for (Operation* user : llvm::make_early_inc_range(slice->getUsers())) {
      if (user->getResult(0).getType() != whole) continue;
      user->getResult(0).replaceAllUsesWith(slice.getResult());
      user->erase();
    }
  }
}

unsigned LoopReads::gather(int64_t heldBytes) {
  std::optional<uint64_t> trips = loop.getTrips();
  if (!trips || *trips < 2) return 0;
  SmallVector<Reads> chosen;
  for (Reads& reads : find()) {
    int64_t bytes = getLocalBytes(reads.gathered, mesh.getMesh());
    if (bytes > heldBytes || !pays(reads, *trips)) continue;
    heldBytes -= bytes;
    chosen.push_back(std::move(reads));
  }
  if (chosen.empty()) return 0;
  OpBuilder builder(loop);
  SmallVector<Value> inits;
  for (const Reads& reads : chosen)
    inits.push_back(ReshardOp::create(builder, loop.getLoc(), reads.gathered, loop.getInits()[reads.iterArg]));
  unsigned first = loop.getNumResults(), numSlices = 0;
  WhileOp larger = addInvariants(loop, inits);
  for (auto [index, reads] : llvm::enumerate(chosen)) {
    rewrite(reads, larger.getBody().getArgument(first + index));
    numSlices += reads.slices.size();
  }
  return numSlices;
}

unsigned mlir::sgd::gatherBeforeLoops(func::FuncOp function, const MeshAxes& mesh, ReshardCosts& costs,
                                      int64_t heldBytes) {
  unsigned numSlices = 0;
  for (Block* block : getProgramBlocks(function)) {
    SmallVector<WhileOp> loops(block->getOps<WhileOp>());
    for (WhileOp loop : loops) numSlices += LoopReads(loop, mesh, costs).gather(heldBytes);
  }
  return numSlices;
}
