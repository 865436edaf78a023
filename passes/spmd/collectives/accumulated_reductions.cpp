// Moves the reduction of values that a loop accumulates, or collects block by block, behind the loop. Works on each
// loop after those inside of it, so that an inner loop's accumulator may be a summand of the outer one.
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/MapVector.h"
#include "passes/sharding/propagation/partial_values.h"
#include "passes/spmd/collectives/loop_collectives.h"
#include "passes/spmd/collectives/reduction_chain.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// How an iteration updates an iter_arg: by joins of one value each, in order.
struct Accumulation {
  struct Join {
    OpOperand* addend;
    std::optional<ReductionChain> chain;  // nullopt: the addend is whole
  };
  SmallVector<Join, 4> joins;
  ShardingAttr partial;  // of the iter_arg, when it is reduced after the loop
};

class LoopReductions {
 public:
  LoopReductions(WhileOp loop, const MeshAxes& mesh, int64_t heldBytes)
      : loop(loop), mesh(mesh), heldBytes(heldBytes) {}

  unsigned run() {
    SmallVector<unsigned> chosen = choose();
    // Accumulators may share chains, which change as each is rebuilt.
    for (unsigned iterArg : chosen) apply(iterArg, *find(iterArg));
    return chosen.size();
  }

 private:
  /// The iter_args that become partial: those whose reductions nothing else in the body needs.
  SmallVector<unsigned> choose() {
    llvm::MapVector<unsigned, Accumulation> found;
    for (unsigned iterArg = 0; iterArg < loop.getNumResults(); ++iterArg)
      if (std::optional<Accumulation> accumulation = find(iterArg); accumulation && mayHold(iterArg, *accumulation))
        found[iterArg] = std::move(*accumulation);
    for (size_t before = found.size() + 1; before != found.size();) {
      before = found.size();
      llvm::DenseSet<OpOperand*> covered;
      for (auto& [iterArg, accumulation] : found) addUses(accumulation, covered);
      found.remove_if([&](auto& entry) { return !isCovered(entry.second, covered); });
    }
    return llvm::map_to_vector(found, [](auto& entry) { return entry.first; });
  }

  static void addUses(const Accumulation& accumulation, llvm::DenseSet<OpOperand*>& covered) {
    for (const Accumulation::Join& join : accumulation.joins) {
      covered.insert(join.addend);
      if (!join.chain) continue;
      for (const ChainLink& link : join.chain->links) covered.insert(&link.op->getOpOperand(link.operand));
    }
  }

  /// Whether all uses of the values along the chains are among `covered`.
  static bool isCovered(const Accumulation& accumulation, const llvm::DenseSet<OpOperand*>& covered) {
    auto onlyFeeds = [&](Value value) {
      return llvm::all_of(value.getUses(), [&](OpOperand& use) { return covered.contains(&use); });
    };
    return llvm::all_of(accumulation.joins, [&](const Accumulation::Join& join) {
      return !join.chain ||
             (onlyFeeds(ReshardOp(join.chain->reduction).getResult()) &&
              llvm::all_of(join.chain->links, [&](const ChainLink& link) { return onlyFeeds(link.op->getResult(0)); }));
    });
  }

  /// Whether the iter_arg may be partial: as it is, but for the sum, or larger within what may be held. Then nothing
  /// else is expanded to the larger shape.
  bool mayHold(unsigned iterArg, const Accumulation& accumulation) {
    RankedTensorType type = tensorType(loop.getResult(iterArg));
    if (accumulation.partial.getDims() == getSharding(type).getDims()) return true;
    bool isAllPartial =
        llvm::all_of(accumulation.joins, [](const Accumulation::Join& join) { return join.chain.has_value(); });
    int64_t more =
        getLocalBytes(withSharding(type, accumulation.partial), mesh.getMesh()) - getLocalBytes(type, mesh.getMesh());
    if (!isAllPartial || more > heldBytes ||
        !isNeutralConstant(loop.getInits()[iterArg], accumulation.partial.getUnreducedKind()))
      return false;
    heldBytes -= more;
    return true;
  }

  /// Follows the iter_arg through the body, from one join to the next, to the yield of the same iter_arg.
  std::optional<Accumulation> find(unsigned iterArg) {
    if (!loop.getCondition().empty() && !loop.getCondition().getArgument(iterArg).use_empty()) return std::nullopt;
    Accumulation found;
    Value sum = loop.getBody().getArgument(iterArg);
    while (sum.hasOneUse()) {
      OpOperand& use = *sum.use_begin();
      if (isa<YieldOp>(use.getOwner()))
        return use.getOperandNumber() == iterArg && found.partial ? std::optional(std::move(found)) : std::nullopt;
      if (!addJoin(use, found)) return std::nullopt;
      sum = use.getOwner()->getResult(0);
    }
    return std::nullopt;
  }

  /// The operand that `use`, the partial sum, is added to; null if its op does something else. A slice that is
  /// overwritten counts as added.
  static OpOperand* getAddend(OpOperand& use) {
    Operation* op = use.getOwner();
    auto update = dyn_cast<DynamicUpdateSliceOp>(op);
    if (update) return use == update.getInputMutable() ? &update.getUpdateMutable() : nullptr;
    if (op->getNumOperands() != 2 || op->getNumResults() != 1 || op->getOperand(0) == op->getOperand(1)) return nullptr;
    return &op->getOpOperand(1 - use.getOperandNumber());
  }

  /// `use` is the sum so far in an op that joins another value to it.
  bool addJoin(OpOperand& use, Accumulation& found) {
    OpOperand* joined = getAddend(use);
    if (!joined) return false;
    OpOperand& addend = *joined;
    if (getSharding(addend.get().getType()).isPartial()) return false;
    std::optional<ReductionChain> chain = traceReduction(addend.get(), mesh, ChainUses::Many);
    if (chain) {
      if (found.partial && found.partial != chain->partial) return false;
      found.partial = chain->partial;
    }
    found.joins.push_back({&addend, std::move(chain)});
    return llvm::all_of(found.joins, [&](const Accumulation::Join& join) {
      Operation* op = join.addend->getOwner();
      return isa<DynamicUpdateSliceOp>(op) ||
             joinsPartials(op, found.partial ? found.partial.getUnreducedKind() : ReduceKind::Add);
    });
  }

  void apply(unsigned iterArg, const Accumulation& accumulation) {
    auto type = withSharding(tensorType(loop.getResult(iterArg)), accumulation.partial);
    for (const Accumulation::Join& join : accumulation.joins) {
      Operation* op = join.addend->getOwner();
      Value before = join.addend->get();
      OpBuilder builder(op);
      auto partial = withSharding(tensorType(before), accumulation.partial);
      join.addend->set(join.chain ? rebuildOnPartial(*join.chain)
                                  : ReshardOp::create(builder, op->getLoc(), partial, before).getResult());
      op->getResult(0).setType(type);
      if (join.chain) eraseUnused(before.getDefiningOp());
    }
    for (Region& region : loop->getRegions())
      if (!region.empty()) region.getArgument(iterArg).setType(type);
    setInit(loop->getOpOperand(iterArg), type, accumulation.partial.getUnreducedKind());
    OpResult result = loop->getResult(iterArg);
    OpBuilder builder(loop->getContext());
    builder.setInsertionPointAfter(loop);
    auto sum = ReshardOp::create(builder, loop.getLoc(), result.getType(), result);
    result.setType(type);
    result.replaceAllUsesExcept(sum, sum);
  }

  /// Zero is zero on all ranks; anything else counts on one.
  void setInit(OpOperand& init, RankedTensorType type, ReduceKind kind) {
    OpBuilder builder(loop);
    if (!isNeutralConstant(init.get(), kind)) {
      init.set(ReshardOp::create(builder, loop.getLoc(), type, init.get()));
      return;
    }
    auto splat = cast<SplatElementsAttr>(init.get().getDefiningOp<arith::ConstantOp>().getValue());
    init.set(arith::ConstantOp::create(builder, loop.getLoc(), splat.resizeSplat(type)));
  }

  WhileOp loop;
  const MeshAxes& mesh;
  int64_t heldBytes;  // left
};

}  // namespace

unsigned mlir::sgd::reduceAfterLoops(func::FuncOp function, const MeshAxes& mesh, int64_t heldBytes) {
  unsigned numChanged = 0;
  for (Block* block : getProgramBlocks(function))
    for (auto loop : block->getOps<WhileOp>()) numChanged += LoopReductions(loop, mesh, heldBytes).run();
  return numChanged;
}
