// Loops get further iter_args for shards; what held whole tensors is left without readers.
#include "passes/time/recompute/repeated_exchange.h"

#include "dialects/sgd/by_rank.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/Matchers.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/sharding/propagation/mesh_axes.h"
#include "passes/spmd/collectives/loop_collectives.h"

using namespace mlir;
using namespace mlir::sgd;

/// A loop that all ranks go through equally often.
static bool hasKnownTrips(WhileOp loop) { return loop.getTrips() && *loop.getTrips() > 1 && !isByRank(loop); }

/// `collective` without the operands whose results nothing reads.
template <typename OpTy>
static void dropUnusedOperands(OpTy collective) {
  SmallVector<Value> inputs, kept;
  SmallVector<int64_t> dims;
  for (auto [input, dim, result] : llvm::zip(collective.getInputs(), collective.getDims(), collective.getResults())) {
    if (result.use_empty()) continue;
    inputs.push_back(input);
    dims.push_back(dim);
    kept.push_back(result);
  }
  if (kept.size() == collective.getNumResults()) return;
  if (!kept.empty()) {
    OpBuilder builder(collective);
    Operation* smaller = cast<spmd::CollectiveOpInterface>(collective.getOperation())
                             .createBucket(builder, collective.getLoc(), ValueRange(kept).getTypes(), inputs, dims, {});
    smaller->setDiscardableAttrs(collective->getDiscardableAttrDictionary());
    for (auto [before, after] : llvm::zip(kept, smaller->getResults())) before.replaceAllUsesWith(after);
  }
  collective.erase();
}

/// One of the operands of `collective` by itself, over `input`.
template <typename OpTy>
static Value createAlone(OpBuilder& builder, OpTy collective, unsigned number, Value input) {
  Operation* alone = cast<spmd::CollectiveOpInterface>(collective.getOperation())
                         .createBucket(builder, collective.getLoc(), collective.getResult(number).getType(), input,
                                       collective.getDims()[number], {});
  alone->setDiscardableAttrs(collective->getDiscardableAttrDictionary());
  return alone->getResult(0);
}

static Value createZero(OpBuilder& builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
}

// Gathers
// ---------------------------------------------------------------------------------------------------------------

/// The first op of the loop's own block in which `argument` is read; null where the loop only hands it on.
static Operation* findFirstReader(BlockArgument argument) {
  Block* block = argument.getOwner();
  Operation* first = nullptr;
  for (Operation* user : argument.getUsers()) {
    Operation* here = block->findAncestorOpInBlock(*user);
    if (here->hasTrait<OpTrait::IsTerminator>()) continue;
    if (!first || here->isBeforeInBlock(first)) first = here;
  }
  return first;
}

/// Operand `number` of `collective`, `repeats` times more than once.
static RepeatedExchange createExchange(spmd::CollectiveOpInterface collective, unsigned number, double repeats,
                                       const CostModel& cost) {
  RepeatedExchange exchange;
  exchange.collective = collective;
  exchange.number = number;
  int64_t operand = getByteSize(collective->getOperand(number).getType());
  int64_t result = getByteSize(collective->getResult(number).getType());
  exchange.freedBytes = std::max(operand, result) - std::min(operand, result);
  AxisListAttr group = collective.getGroup();
  AxisParts parts = getParts(lookupMesh(collective, group.getMesh()), group.getAxes());
  uint64_t counted = ::sgd::comm::CountsResults(collective.getCollectiveKind()) ? result : operand;
  double once = static_cast<double>(CostModel::getSentBytes(collective.getCollectiveKind(), parts, counted));
  exchange.sentBytes = static_cast<uint64_t>(once * repeats);
  exchange.seconds = cost.getCollectiveSeconds(collective.getCollectiveKind(), parts, counted) * repeats;
  return exchange;
}

SmallVector<RepeatedExchange, 0> mlir::sgd::findRepeatableGathers(func::FuncOp function, const CostModel& cost) {
  SmallVector<RepeatedExchange, 0> found;
  for (auto gather : function.getOps<spmd::AllGatherOp>())
    for (OpResult result : gather.getResults()) {
      SmallVector<OpOperand*, 1> inits;
      double repeats = -1;
      bool isWhole = !result.use_empty();
      for (OpOperand& use : result.getUses()) {
        auto loop = dyn_cast<WhileOp>(use.getOwner());
        isWhole &= loop && hasKnownTrips(loop) && loop.isInvariant(use.getOperandNumber()) &&
                   loop.getResult(use.getOperandNumber()).use_empty();
        if (!isWhole) break;
        inits.push_back(&use);
        repeats += static_cast<double>(*loop.getTrips());
      }
      if (!isWhole) continue;
      found.push_back(createExchange(cast<spmd::CollectiveOpInterface>(gather.getOperation()), result.getResultNumber(),
                                     repeats, cost));
      found.back().inits = std::move(inits);
    }
  return found;
}

void mlir::sgd::gatherInLoops(func::FuncOp function, const CostModel& cost) {
  // By loop, since one gets iter_args once.
  llvm::MapVector<Operation*, SmallVector<std::pair<unsigned, OpResult>>> byLoop;
  for (const RepeatedExchange& exchange : findRepeatableGathers(function, cost))
    for (OpOperand* init : exchange.inits)
      byLoop[init->getOwner()].push_back({init->getOperandNumber(), exchange.collective->getResult(exchange.number)});
  for (auto& [op, gathers] : byLoop) {
    auto loop = cast<WhileOp>(op);
    SmallVector<Value> shards;
    for (auto [iterArg, result] : gathers)
      shards.push_back(cast<spmd::AllGatherOp>(result.getOwner()).getInputs()[result.getResultNumber()]);
    unsigned first = loop.getNumResults();
    WhileOp larger = addInvariants(loop, shards);
    for (auto [number, entry] : llvm::enumerate(gathers)) {
      auto gather = cast<spmd::AllGatherOp>(entry.second.getOwner());
      BlockArgument whole = larger.getBody().getArgument(entry.first);
      Operation* reader = findFirstReader(whole);
      if (!reader) continue;
      OpBuilder builder(reader);
      Value own =
          createAlone(builder, gather, entry.second.getResultNumber(), larger.getBody().getArgument(first + number));
      whole.replaceUsesWithIf(own, [&](OpOperand& use) { return !use.getOwner()->hasTrait<OpTrait::IsTerminator>(); });
    }
    // The replicated iter_arg is unused now; the next canonicalization removes it.
    OpBuilder builder(larger);
    for (auto [iterArg, result] : gathers)
      larger->setOperand(iterArg, createZero(builder, result.getLoc(), result.getType()));
  }
  for (auto gather : llvm::make_early_inc_range(function.getOps<spmd::AllGatherOp>())) dropUnusedOperands(gather);
}

// Reductions
// ------------------------------------------------------------------------------------------------------------

/// The add that makes iter_arg `iterArg` a sum from zero of which nothing else reads what it is in between.
static Operation* findAccumulation(WhileOp loop, unsigned iterArg) {
  BlockArgument sum = loop.getBody().getArgument(iterArg);
  Operation* add = loop.getYielded()[iterArg].getDefiningOp();
  bool starts =
      matchPattern(loop.getInits()[iterArg], m_AnyZeroFloat()) || matchPattern(loop.getInits()[iterArg], m_Zero());
  if (!starts || !isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) || !sum.hasOneUse() || !add->hasOneUse())
    return nullptr;
  return *sum.user_begin() == add ? add : nullptr;
}

SmallVector<RepeatedExchange, 0> mlir::sgd::findRepeatableReductions(func::FuncOp function, const CostModel& cost) {
  SmallVector<RepeatedExchange, 0> found;
  for (auto reduce : function.getOps<spmd::ReduceScatterOp>()) {
    if (reduce.getKind() != ReduceKind::Add) continue;
    for (OpOperand& input : reduce->getOpOperands()) {
      auto sum = dyn_cast<OpResult>(input.get());
      auto loop = sum ? dyn_cast<WhileOp>(sum.getOwner()) : WhileOp();
      if (!loop || !sum.hasOneUse() || !hasKnownTrips(loop) || !findAccumulation(loop, sum.getResultNumber())) continue;
      found.push_back(createExchange(cast<spmd::CollectiveOpInterface>(reduce.getOperation()), input.getOperandNumber(),
                                     static_cast<double>(*loop.getTrips()) - 1, cost));
      found.back().loop = loop;
      found.back().iterArg = sum.getResultNumber();
    }
  }
  return found;
}

void mlir::sgd::reduceInLoops(func::FuncOp function, const CostModel& cost) {
  llvm::MapVector<Operation*, SmallVector<RepeatedExchange>> byLoop;
  for (RepeatedExchange& exchange : findRepeatableReductions(function, cost))
    byLoop[exchange.loop].push_back(std::move(exchange));
  for (auto& [op, reductions] : byLoop) {
    auto loop = cast<WhileOp>(op);
    OpBuilder builder(loop);
    SmallVector<Value> zeros;
    for (const RepeatedExchange& exchange : reductions)
      zeros.push_back(createZero(builder, exchange.collective->getLoc(),
                                 exchange.collective->getResult(exchange.number).getType()));
    unsigned first = loop.getNumResults();
    WhileOp larger = addInvariants(loop, zeros);
    Operation* yield = larger.getBody().front().getTerminator();
    for (auto [number, exchange] : llvm::enumerate(reductions)) {
      auto reduce = cast<spmd::ReduceScatterOp>(exchange.collective);
      BlockArgument whole = larger.getBody().getArgument(exchange.iterArg);
      Operation* add = *whole.user_begin();
      Value summand = add->getOperand(add->getOperand(0) == whole ? 1 : 0);
      Value shard = larger.getBody().getArgument(first + number);
      builder.setInsertionPoint(add);
      Operation* next = builder.clone(*add);
      builder.setInsertionPoint(next);
      next->setOperands({shard, createAlone(builder, reduce, exchange.number, summand)});
      next->getResult(0).setType(shard.getType());
      yield->setOperand(first + number, next->getResult(0));
      yield->setOperand(exchange.iterArg, whole);
      add->erase();
      reduce.getResult(exchange.number).replaceAllUsesWith(larger.getResult(first + number));
    }
  }
  for (auto reduce : llvm::make_early_inc_range(function.getOps<spmd::ReduceScatterOp>())) dropUnusedOperands(reduce);
}
