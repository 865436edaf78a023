// Which stacks go first is decided for all loops of a function together, so that any number of them is a prefix of one
// list.
#include "passes/partition/sharding_state.h"
#include "passes/partition/source_line.h"
#include "passes/remat/loop_stacks.h"
#include "passes/remat/passes.h"
#include "passes/remat/recomputed_attr.h"
#include "passes/remat/repeated_exchange.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_RECOMPUTEINLOOPSPASS
#include "passes/remat/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Stacks of one pair that go together, and what that costs on top of those that have gone before.
struct Step {
  unsigned pair = 0;
  SmallVector<unsigned, 1> stacks;
  int64_t freedBytes = 0;
  double seconds = 0, flops = 0;
};

/// The order in which the stacks of a function go: what frees most per second of recomputation first.
class StackChooser {
 public:
  StackChooser(ArrayRef<LoopPair> pairs, const CostModel& cost) : pairs(pairs), cost(cost), dropped(pairs.size()) {
    for (const LoopPair& pair : pairs) cones.push_back(*pair.getCone({}, cost));
  }

  std::vector<Step> run() {
    std::vector<Step> steps;
    while (std::optional<Step> best = findBest()) {
      llvm::append_range(dropped[best->pair], best->stacks);
      cones[best->pair] = *pairs[best->pair].getCone(dropped[best->pair], cost);
      steps.push_back(std::move(*best));
    }
    return steps;
  }

 private:
  std::optional<Step> findBest() const {
    std::optional<Step> best;
    auto offer = [&](std::optional<Step> step) {
      if (step && step->freedBytes > 0 && (!best || getWorth(*step) > getWorth(*best))) best = std::move(step);
    };
    for (auto [number, pair] : llvm::enumerate(pairs)) {
      SmallVector<unsigned, 1> rest;
      for (unsigned stack = 0; stack < pair.getStacks().size(); ++stack)
        if (!llvm::is_contained(dropped[number], stack)) {
          offer(getStep(number, {stack}));
          rest.push_back(stack);
        }
      // What all need, the state that an iteration begins with, may be more than one of them frees.
      if (!best && rest.size() > 1) offer(getStep(number, rest));
    }
    return best;
  }

  static double getWorth(const Step& step) {
    return static_cast<double>(step.freedBytes) / std::max(step.seconds, 1e-12);
  }

  std::optional<Step> getStep(unsigned number, SmallVector<unsigned, 1> stacks) const {
    SmallVector<unsigned, 8> all(dropped[number]);
    llvm::append_range(all, stacks);
    std::optional<StackCone> cone = pairs[number].getCone(all, cost);
    if (!cone) return std::nullopt;
    Step step{number, std::move(stacks), cones[number].newBytes - cone->newBytes, cone->seconds - cones[number].seconds,
              cone->flops - cones[number].flops};
    for (unsigned stack : step.stacks) step.freedBytes += pairs[number].getStacks()[stack].bytes;
    return step;
  }

  ArrayRef<LoopPair> pairs;
  const CostModel& cost;
  std::vector<SmallVector<unsigned, 8>> dropped;  // by pair
  std::vector<StackCone> cones;                   // of what is dropped
};

/// What comes when no stacks are left to drop: these send more.
struct ExchangeStep {
  SmallVector<RepeatedExchange, 0> (*find)(func::FuncOp, const CostModel&);
  void (*apply)(func::FuncOp, const CostModel&);
};
constexpr ExchangeStep kExchangeSteps[] = {{findRepeatableGathers, gatherInLoops},
                                           {findRepeatableReductions, reduceInLoops}};

/// The first `count` steps; marks the function with what they are.
void recompute(func::FuncOp function, const CostModel& cost, uint64_t count, bool takesExchanges) {
  SmallVector<LoopPair, 0> pairs = LoopPair::find(function);
  std::vector<Step> steps = StackChooser(pairs, cost).run();
  uint64_t exchanges = takesExchanges ? std::size(kExchangeSteps) : count - std::min<uint64_t>(count, steps.size());
  steps.resize(std::min<size_t>(steps.size(), count));
  std::vector<SmallVector<unsigned, 8>> dropped(pairs.size());
  SmallVector<Attribute> records;
  for (const Step& step : steps) {
    llvm::append_range(dropped[step.pair], step.stacks);
    Value slice = pairs[step.pair].getStacks()[step.stacks.front()].slice;
    // Elementwise ops go into kernels that run anyway: what counts is arithmetic.
    double flops = std::max(step.flops, 0.0);
    RecomputedInLoop record{"loop",
                            getSourceLine(slice.getLoc()),
                            static_cast<uint64_t>(step.freedBytes),
                            static_cast<uint64_t>(flops),
                            0,
                            flops / cost.getTopology().device.flops};
    records.push_back(record.toAttr(function.getContext()));
  }
  for (auto [pair, stacks] : llvm::zip(pairs, dropped)) pair.drop(stacks, cost);
  for (const ExchangeStep& step : kExchangeSteps) {
    SmallVector<RepeatedExchange, 0> found =
        exchanges > 0 ? step.find(function, cost) : SmallVector<RepeatedExchange, 0>();
    if (found.empty()) continue;
    --exchanges;
    for (const RepeatedExchange& exchange : found) {
      auto collective = cast<spmd::CollectiveOpInterface>(exchange.collective);
      RecomputedInLoop record{::sgd::comm::CollectiveName(collective.getCollectiveKind()),
                              getSourceLine(collective->getLoc()),
                              static_cast<uint64_t>(exchange.freedBytes),
                              0,
                              exchange.sentBytes,
                              exchange.seconds};
      records.push_back(record.toAttr(function.getContext()));
    }
    step.apply(function, cost);
  }
  if (!records.empty()) function->setAttr(kRecomputedInLoopsAttr, ArrayAttr::get(function.getContext(), records));
}

struct RecomputeInLoopsPass : mlir::sgd::impl::RecomputeInLoopsPassBase<RecomputeInLoopsPass> {
  using RecomputeInLoopsPassBase::RecomputeInLoopsPassBase;

  void runOnOperation() final {
    FailureOr<CostModel> cost = loadCosts(getOperation(), topologyName);
    if (failed(cost)) return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal()) recompute(function, *cost, count, exchanges);
  }
};

}  // namespace

FailureOr<unsigned> mlir::sgd::countLoopSteps(ModuleOp module, StringRef topologyName) {
  FailureOr<CostModel> cost = loadCosts(module, topologyName);
  if (failed(cost)) return failure();
  size_t most = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal()) continue;
    SmallVector<LoopPair, 0> pairs = LoopPair::find(function);
    size_t steps = StackChooser(pairs, *cost).run().size();
    for (const ExchangeStep& step : kExchangeSteps) steps += step.find(function, *cost).empty() ? 0 : 1;
    most = std::max(most, steps);
  }
  return static_cast<unsigned>(most);
}
