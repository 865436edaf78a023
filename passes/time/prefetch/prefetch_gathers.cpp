// The pass spmd-prefetch-gathers. Inner loops first: what they gather for themselves is compute to those around them.
#include "dialects/sgd/decision.h"
#include "llvm/Support/Format.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/time/prefetch/loop_timing.h"
#include "passes/time/prefetch/passes.h"
#include "passes/time/prefetch/prefetched_loop.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PREFETCHGATHERSPASS
#include "passes/time/prefetch/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// The part of a device's memory that a loop may gather ahead.
static constexpr int64_t kMemoryDivisor = 16;

/// The part of what can be saved that is enough.
static constexpr double kEnough = 0.95;

namespace {
struct PrefetchGathersPass : mlir::sgd::impl::PrefetchGathersPassBase<PrefetchGathersPass> {
  using PrefetchGathersPassBase::PrefetchGathersPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) return;
    FailureOr<CostModel> cost = loadCostModel(mesh, topologyName);
    if (failed(cost)) return signalPassFailure();
    if (cost->getTopology().name == getHostTopology().name) return;
    const OpTimes times(getOperation(), *cost);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<WhileOp> loops;
      function.walk([&](WhileOp loop) { loops.push_back(loop); });
      for (WhileOp loop : loops) visit(function, loop, times);
    }
  }

 private:
  void visit(func::FuncOp function, WhileOp loop, const OpTimes& times);
  unsigned choose(WhileOp loop, ArrayRef<GatherCone> cones, const OpTimes& times, double& saved) const;
};
}  // namespace

static int64_t getResultBytes(Operation* op) {
  int64_t bytes = 0;
  for (Value result : op->getResults()) bytes += static_cast<int64_t>(getByteSize(result.getType()));
  return bytes;
}

/// How many of the first gathers of an iteration to start before it, and the seconds that each iteration then saves.
unsigned PrefetchGathersPass::choose(WhileOp loop, ArrayRef<GatherCone> cones, const OpTimes& times,
                                     double& saved) const {
  SmallVector<spmd::AllGatherOp> gathers =
      llvm::map_to_vector(cones, [](const GatherCone& cone) { return cone.getGather(); });
  int64_t room = times.getCost().getTopology().device.memoryBytes / kMemoryDivisor;
  unsigned most = 0;
  while (most < gathers.size() && (room -= getResultBytes(gathers[most])) >= 0) ++most;
  LoopTiming timing(loop, gathers, times);
  double now = timing.getSeconds(0);
  SmallVector<double> seconds;
  for (unsigned number = 1; number <= most; ++number) seconds.push_back(now - timing.getSeconds(number));
  if (seconds.empty()) return 0;
  double best = *llvm::max_element(seconds);
  if (best < leastSaved) return 0;
  auto enough = llvm::find_if(seconds, [&](double one) { return one >= kEnough * best; });
  saved = *enough;
  return enough - seconds.begin() + 1;
}

void PrefetchGathersPass::visit(func::FuncOp function, WhileOp loop, const OpTimes& times) {
  if (!loop.getCondition().empty() || loop.getTrips().value_or(0) < 3) return;
  SmallVector<GatherCone, 0> cones;
  for (auto gather : loop.getBody().front().getOps<spmd::AllGatherOp>())
    if (std::optional<GatherCone> cone = GatherCone::find(loop, gather)) cones.push_back(std::move(*cone));
  double saved = 0;
  unsigned number = choose(loop, cones, times, saved);
  if (number == 0) return;
  int64_t bytes = 0;
  for (const GatherCone& cone : ArrayRef(cones).take_front(number)) bytes += getResultBytes(cone.getGather());
  Decision decision = Decision::at(DecisionKind::Prefetch, loop.getLoc());
  decision.chosen = "an iteration ahead";
  llvm::raw_string_ostream os(decision.why);
  os << "loop at " << decision.source << ": ";
  if (number == 1)
    os << "its first gather starts";
  else
    os << "its first " << number << " gathers start";
  os << " an iteration ahead, which saves about " << llvm::format("%.3g", saved * 1e6) << " us in each of "
     << *loop.getTrips() << " iterations and takes " << bytes << " bytes";
  addDecision(function, decision);
  numPrefetched += number;
  // Behind the gathers that this iteration still waits for.
  Operation* place = cones.back().getGather()->getNextNode();
  prefetch(loop, ArrayRef(cones).take_front(number), place);
}
