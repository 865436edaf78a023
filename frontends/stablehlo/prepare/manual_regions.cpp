// jax.shard_map of exports without Shardy: @SPMDFullToShardShape leads into a manual region, @SPMDShardToFullShape out
// of it, and the ops between become an `sdy.manual_computation`; see prepare.h.
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "frontends/stablehlo/prepare/tile_shardings.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr StringRef kEnter = "SPMDFullToShardShape", kLeave = "SPMDShardToFullShape";

bool isCall(Operation* op, StringRef target) {
  auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == target && call->getNumOperands() == 1 && call->getNumResults() == 1;
}

/// Ops that every region makes for itself.
bool isFreeOfOperands(Operation* op) {
  return op->getNumOperands() == 0 && op->getNumRegions() == 0 && op->getNumResults() == 1;
}

/// Operands, and what the regions of `op` read from outside of it.
SmallVector<Value> getUsedValues(Operation* op) {
  SmallVector<Value> used(op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(used, captured);
  return used;
}

/// A manual region: the ops between entries and exits, in the order of the block.
struct Region {
  llvm::SetVector<Operation*> ops, entries, exits;
};

class ManualRegions {
 public:
  explicit ManualRegions(ModuleOp module) : module(module), tiles(module) {}

  LogicalResult run();

 private:
  LogicalResult runOnBlock(Block& block);
  /// Adds what `exit` is computed from.
  LogicalResult collect(Operation* exit, Region& region);
  LogicalResult create(Region& region);
  FailureOr<sdy::ShardingAttr> getEntrySharding(Operation* entry);

  ModuleOp module;
  TileShardings tiles;
  DenseMap<Operation*, SmallVector<StringAttr>> manualAxes;  // by entry
};

LogicalResult ManualRegions::collect(Operation* exit, Region& region) {
  region.exits.insert(exit);
  SmallVector<Value> left{exit->getOperand(0)};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    Operation* op = value.getDefiningOp();
    // Values from around the block are known to all ranks.
    if (!op || op->getBlock() != exit->getBlock()) continue;
    if (isCall(op, kEnter)) {
      region.entries.insert(op);
      continue;
    }
    if (isCall(op, kLeave))
      return emitError(op->getLoc()) << "'stablehlo.custom_call' @" << kLeave
                                     << " is used within a manual region without @" << kEnter
                                     << "; expected both; export shard_map with its regions complete";
    if (!isFreeOfOperands(op) && region.ops.insert(op)) llvm::append_range(left, getUsedValues(op));
  }
  return success();
}

FailureOr<sdy::ShardingAttr> ManualRegions::getEntrySharding(Operation* entry) {
  Operation* annotation = entry->getOperand(0).getDefiningOp();
  auto sharding = annotation ? annotation->getAttrOfType<sdy::ShardingAttr>("sdy.sharding") : sdy::ShardingAttr();
  if (!sharding)
    return emitError(entry->getLoc())
           << "'stablehlo.custom_call' @" << kEnter
           << " has an operand without @Sharding, which says how it is cut; export it as jax.shard_map does";
  return sharding;
}

LogicalResult ManualRegions::create(Region& region) {
  auto isBefore = [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); };
  SmallVector<Operation*> ops = region.ops.takeVector(), entries = region.entries.takeVector(),
                          exits = region.exits.takeVector();
  for (auto* list : {&ops, &entries, &exits}) llvm::sort(*list, isBefore);
  Operation* place = exits.front();
  for (Operation* entry : entries)
    if (!entry->isBeforeInBlock(place))
      return emitError(entry->getLoc()) << "'stablehlo.custom_call' @" << kEnter
                                        << " stands behind the end of its manual region; expected it before; export "
                                           "shard_map with its regions complete";
  MLIRContext* context = module.getContext();
  SmallVector<Value> operands;
  SmallVector<sdy::ShardingAttr> in, out;
  for (Operation* entry : entries) {
    FailureOr<sdy::ShardingAttr> sharding = getEntrySharding(entry);
    if (failed(sharding)) return failure();
    operands.push_back(entry->getOperand(0));
    in.push_back(*sharding);
  }
  SmallVector<Type> types;
  for (Operation* exit : exits) {
    auto sharding = exit->getAttrOfType<sdy::ShardingAttr>("sdy.sharding");
    if (!sharding)
      return emitError(exit->getLoc())
             << "'stablehlo.custom_call' @" << kLeave
             << " has no sharding; expected mhlo.sharding; export shard_map with the shardings of its results";
    types.push_back(exit->getResult(0).getType());
    out.push_back(sharding);
  }
  ArrayRef<StringAttr> axes = manualAxes[entries.empty() ? exits.front() : entries.front()];
  OpBuilder builder(place);
  auto manual = sdy::ManualComputationOp::create(
      builder, place->getLoc(), types, operands, sdy::ShardingPerValueAttr::get(context, in),
      sdy::ShardingPerValueAttr::get(context, out), sdy::ManualAxesAttr::get(context, axes));
  Block& body = manual.getBody().emplaceBlock();
  IRMapping inside;
  for (Operation* entry : entries)
    inside.map(entry->getResult(0), body.addArgument(entry->getResult(0).getType(), entry->getLoc()));
  builder.setInsertionPointToStart(&body);
  auto makeConstants = [&](Operation* op) {
    for (Value used : getUsedValues(op)) {
      Operation* producer = used.getDefiningOp();
      if (producer && !inside.contains(used) && isFreeOfOperands(producer) && producer->getBlock() == place->getBlock())
        builder.clone(*producer, inside);
    }
  };
  for (Operation* op : ops) {
    makeConstants(op);
    builder.clone(*op, inside);
  }
  SmallVector<Value> returned;
  for (Operation* exit : exits) {
    makeConstants(exit);
    returned.push_back(inside.lookupOrDefault(exit->getOperand(0)));
  }
  sdy::ReturnOp::create(builder, place->getLoc(), returned);
  for (auto [exit, result] : llvm::zip(exits, manual.getResults())) exit->getResult(0).replaceAllUsesWith(result);
  for (auto* list : {&exits, &ops, &entries})
    for (Operation* op : llvm::reverse(*list))
      if (op->use_empty()) op->erase();
  return success();
}

LogicalResult ManualRegions::runOnBlock(Block& block) {
  SmallVector<Region> regions;
  for (Operation& op : block) {
    if (!isCall(&op, kLeave)) continue;
    Region region;
    if (collect(&op, region).failed()) return failure();
    // Exits that share an op, or what leads in, are of one region.
    for (Region& other : llvm::make_early_inc_range(regions)) {
      bool isShared = llvm::any_of(other.ops, [&](Operation* op) { return region.ops.contains(op); }) ||
                      llvm::any_of(other.entries, [&](Operation* op) { return region.entries.contains(op); });
      if (!isShared) continue;
      region.ops.insert_range(other.ops);
      region.entries.insert_range(other.entries);
      region.exits.insert_range(other.exits);
      other = Region();
    }
    llvm::erase_if(regions, [](Region& other) { return other.exits.empty(); });
    regions.push_back(std::move(region));
  }
  for (Region& region : regions)
    if (create(region).failed()) return failure();
  return success();
}

LogicalResult ManualRegions::run() {
  SmallVector<Operation*> ends;
  llvm::SetVector<Block*> blocks;
  module.walk([&](Operation* op) {
    if (isCall(op, kEnter) || isCall(op, kLeave)) ends.push_back(op);
    if (isCall(op, kLeave)) blocks.insert(op->getBlock());
  });
  if (ends.empty()) return success();
  if (!module.getOps<sdy::MeshOp>().empty())
    return emitError(ends.front()->getLoc()) << "'stablehlo.custom_call' @" << kEnter
                                             << " beside meshes of 'sdy' is not supported; export with one partitioner";
  if (tiles.createMesh().failed()) return failure();
  for (Operation* op : ends) {
    // Of an exit, its operand's annotation says it.
    Operation* annotated = isCall(op, kEnter) ? op : op->getOperand(0).getDefiningOp();
    auto text = annotated ? annotated->getAttrOfType<StringAttr>("mhlo.sharding") : StringAttr();
    if (text) manualAxes[op] = tiles.getManualAxes(text);
    if (text) continue;
    return emitError(op->getLoc()) << "'stablehlo.custom_call' @"
                                   << cast<stablehlo::CustomCallOp>(op).getCallTargetName()
                                   << " has no mhlo.sharding; expected one that says over which devices it is manual; "
                                      "export shard_map with its shardings";
  }
  if (tiles.replaceAll().failed()) return failure();
  for (Block* block : blocks)
    if (runOnBlock(*block).failed()) return failure();
  // Entries that no exit needs.
  WalkResult walked = module.walk([&](stablehlo::CustomCallOp call) {
    if (!isCall(call, kEnter)) return WalkResult::advance();
    if (call->use_empty()) {
      call->erase();
      return WalkResult::advance();
    }
    emitError(call.getLoc()) << "'stablehlo.custom_call' @" << kEnter
                             << " leads into a manual region that nothing leaves; expected @" << kLeave
                             << " behind it; export shard_map with its regions complete";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

}  // namespace

LogicalResult mlir::sgd::createManualComputations(ModuleOp module) { return ManualRegions(module).run(); }
