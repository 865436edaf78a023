// Which stacks go first is decided for all loops of a function together, so that any number of them is a prefix of one
// list.
#include "dialects/sgd/decision.h"
#include "llvm/Support/Format.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/time/recompute/drop_stacks.h"
#include "passes/time/recompute/passes.h"
#include "passes/time/recompute/repeated_exchange.h"
#include "passes/time/recompute/stack_order.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_RECOMPUTEINLOOPSPASS
#include "passes/time/recompute/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Steps after the last stack is dropped: these send more.
struct ExchangeStep {
  SmallVector<RepeatedExchange, 0> (*find)(func::FuncOp, const CostModel&);
  void (*apply)(func::FuncOp, const CostModel&);
};
constexpr ExchangeStep kExchangeSteps[] = {{findRepeatableGathers, gatherInLoops},
                                           {findRepeatableReductions, reduceInLoops}};

/// Lists a step among the decisions of the function; its numbers are those of all iterations.
void addStep(func::FuncOp function, Decision decision) {
  llvm::raw_string_ostream why(decision.why);
  if (decision.bytes > 0)
    why << "for the memory limit, a loop runs this " << decision.chosen << " in each iteration: " << decision.freedBytes
        << " bytes are not held through it, " << decision.bytes << " bytes are sent and ";
  else
    why << "for the memory limit, a loop computes this again in each iteration: " << decision.freedBytes
        << " bytes are not stacked, " << decision.flops << " flops and ";
  why << llvm::format("%.3g", decision.seconds * 1e6) << " us more";
  addDecision(function, decision);
}

/// Takes the first `count` steps and lists them among the decisions of the function.
void recompute(func::FuncOp function, const OpTimes& times, uint64_t count, bool takesExchanges) {
  SmallVector<LoopPair, 0> pairs = LoopPair::find(function);
  StackOrder order = findStackOrder(pairs, times, count);
  uint64_t exchanges = takesExchanges ? std::size(kExchangeSteps) : count - order.steps.size();
  std::vector<SmallVector<unsigned, 8>> dropped(pairs.size());
  for (const StackStep& step : order.steps) {
    llvm::append_range(dropped[step.pair], step.stacks);
    Value slice = pairs[step.pair].getStacks()[step.stacks.front()].slice;
    Decision decision = Decision::at(DecisionKind::Recompute, slice.getLoc());
    decision.chosen = "loop";
    decision.freedBytes = static_cast<uint64_t>(step.freedBytes);
    decision.flops = static_cast<uint64_t>(std::max(step.flops, 0.0));
    decision.seconds = std::max(step.seconds, 0.0);
    addStep(function, std::move(decision));
  }
  for (auto [pair, stacks] : llvm::zip(pairs, dropped)) dropStacks(pair, stacks, times);
  for (const ExchangeStep& step : kExchangeSteps) {
    SmallVector<RepeatedExchange, 0> found =
        exchanges > 0 ? step.find(function, times.getCost()) : SmallVector<RepeatedExchange, 0>();
    if (found.empty()) continue;
    --exchanges;
    for (const RepeatedExchange& exchange : found) {
      auto collective = cast<spmd::CollectiveOpInterface>(exchange.collective);
      Decision decision = Decision::at(DecisionKind::Recompute, collective->getLoc());
      decision.chosen = ::sgd::comm::CollectiveName(collective.getCollectiveKind());
      decision.freedBytes = static_cast<uint64_t>(exchange.freedBytes);
      decision.bytes = exchange.sentBytes;
      decision.seconds = exchange.seconds;
      addStep(function, std::move(decision));
    }
    step.apply(function, times.getCost());
  }
}

/// Takes the steps that save time too; says whether there are any.
bool recomputeFree(func::FuncOp function, const OpTimes& times) {
  SmallVector<LoopPair, 0> pairs = LoopPair::find(function);
  StackOrder order = findFreeStacks(pairs, times);
  std::vector<SmallVector<unsigned, 8>> dropped(pairs.size());
  for (const StackStep& step : order.steps) llvm::append_range(dropped[step.pair], step.stacks);
  for (auto [pair, stacks] : llvm::zip(pairs, dropped)) dropStacks(pair, stacks, times);
  return !order.steps.empty();
}

struct RecomputeInLoopsPass : mlir::sgd::impl::RecomputeInLoopsPassBase<RecomputeInLoopsPass> {
  using RecomputeInLoopsPassBase::RecomputeInLoopsPassBase;

  void runOnOperation() final {
    FailureOr<CostModel> cost = loadCosts(getOperation(), topologyName);
    if (failed(cost)) return signalPassFailure();
    const OpTimes times(getOperation(), *cost);
    bool isCleaned = true;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      if (free)
        isCleaned &= !recomputeFree(function, times);
      else
        recompute(function, times, count, exchanges);
    }
    if (isCleaned) return;
    OpPassManager cleaning(ModuleOp::getOperationName());
    cleaning.addPass(createCanonicalizerPass());
    if (failed(runPipeline(cleaning, getOperation()))) signalPassFailure();
  }
};

}  // namespace

FailureOr<unsigned> mlir::sgd::countLoopSteps(ModuleOp module, StringRef topologyName) {
  FailureOr<CostModel> cost = loadCosts(module, topologyName);
  if (failed(cost)) return failure();
  const OpTimes times(module, *cost);
  size_t most = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal()) continue;
    SmallVector<LoopPair, 0> pairs = LoopPair::find(function);
    size_t steps = findStackOrder(pairs, times).steps.size();
    for (const ExchangeStep& step : kExchangeSteps) steps += step.find(function, *cost).empty() ? 0 : 1;
    most = std::max(most, steps);
  }
  return static_cast<unsigned>(most);
}
