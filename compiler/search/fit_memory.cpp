// Recomputation and offload work with an estimate of what is alive; what counts is the peak of the plan that comes out.
// So plans for several budgets are made, and the fastest that fits is taken.
#include "compiler/search/fit_memory.h"

#include "compiler/export/export.h"
#include "compiler/pipelines/pipelines.h"
#include "compiler/report/planned_step.h"
#include "compiler/report/report.h"
#include "passes/plan/memory/arena_bytes.h"
#include "passes/plan/recompute/passes.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

FailureOr<uint64_t> mlir::sgd::exportForPeak(ModuleOp plan, ::sgd::artifact::ArtifactWriter& writer) {
  if (failed(exportPlan(plan, writer))) return failure();
  return getArenaBytes(plan) + writer.constant_bytes();
}

namespace {

/// Plans with recomputation that are made for one limit, before the smallest is looked for.
constexpr int kMostPlans = 8;
/// The search ends when the plan's peak is this close to the limit: a part of it.
constexpr uint64_t kCloseEnough = 128;
/// The least that a budget is lowered by at first: a part of the limit.
constexpr int64_t kFirstStep = 512;
/// Parts of the limit.
constexpr int64_t kRoomForOverlap[] = {64, 16};
/// Steps below the smallest peak found, as parts of it; at last a byte.
constexpr uint64_t kLowerLimits[] = {32, UINT64_MAX};
/// No collective in flight: nothing fits into a byte.
constexpr uint64_t kNoOverlap = 1;

class MemoryFitter {
 public:
  MemoryFitter(ModuleOp bufferized, const PlanOptions& options, const Alternatives& alternatives, Effort effort)
      : bufferized(bufferized),
        options(options),
        alternatives(alternatives),
        target(alternatives.getTarget()),
        effort(effort),
        topology(options.topology),
        limit(*options.memoryLimit) {}

  FailureOr<MemoryPlan> run() {
    if (failed(plan(std::nullopt, /*overlapLimit=*/0))) return failure();
    if (best) return std::move(*best);
    mayOverlap = hasOverlap;
    unsplitPeak = lastPeak;
    if (hasOverlap && failed(plan(std::nullopt))) return failure();
    if (effort == Effort::Given && !best) return std::move(*smallest);
    for (StringRef kind : getOffloads()) {
      offload = kind;
      FailureOr<int64_t> alive = estimateAliveBytes(bufferized, topology, offload);
      if (failed(alive)) return failure();
      // The estimate leaves out arguments, constants and gaps.
      int64_t budget = static_cast<int64_t>(limit) - (unsplitPeak - *alive);
      if (failed(effort == Effort::Smallest ? searchLeast(*alive) : searchBudgets(budget, *alive))) return failure();
    }
    return std::move(best ? *best : *smallest);
  }

 private:
  /// Recomputing alone, then with what may be on the host: the faster one is taken.
  SmallVector<StringRef, 2> getOffloads() const {
    SmallVector<StringRef, 2> kinds = {"never"};
    if (!target.getDescription().hasOwnMemory || options.offload == "never") return kinds;
    kinds.push_back(options.offload.empty() ? StringRef("all") : StringRef(options.offload));
    return kinds;
  }

  /// Between budgets whose plans fit and budgets whose plans do not.
  LogicalResult searchBudgets(int64_t budget, int64_t alive) {
    int64_t fits = 0, misses = alive, step = limit / kFirstStep;
    for (int plans = 0; plans < kMostPlans && budget > fits && budget < misses; ++plans) {
      if (failed(plan(budget))) return failure();
      int64_t room = static_cast<int64_t>(limit) - lastPeak;
      (room >= 0 ? fits : misses) = budget;
      if (room >= 0 && room <= static_cast<int64_t>(limit / kCloseEnough)) break;
      // The next budget is off by as much as this one; but different budgets may well give one plan.
      budget += room >= 0 ? room : std::min(room, -step);
      step *= 2;
      if (fits > 0 && (budget <= fits || budget >= misses)) budget = fits + (misses - fits) / 2;
    }
    // A little less leaves room for collectives in flight.
    for (int64_t part : kRoomForOverlap)
      if (int64_t less = fits - static_cast<int64_t>(limit) / part;
          mayOverlap && fits > 0 && less > 0 && failed(plan(less)))
        return failure();
    return success();
  }

  /// Budgets near the least that can be met, whatever the limit: so the smallest peak found is a limit that is met.
  LogicalResult searchLeast(int64_t alive) {
    FailureOr<int64_t> least = findLeastBudget(bufferized, topology, offload);
    if (failed(least)) return failure();
    for (int64_t percent : {25, 50, 75, 90, 100, 101, 102, 104, 108}) {
      int64_t budget = *least * percent / 100;
      if (budget >= alive) continue;
      if (failed(plan(budget, kNoOverlap))) return failure();
      // With collectives in flight it is no smaller, but may be faster.
      if (lastPeak <= static_cast<int64_t>(limit) && failed(plan(budget, limit))) return failure();
    }
    return success();
  }

  /// Plans with and without collectives in flight. What is in flight is within the limit but for the gaps that later
  /// passes leave.
  LogicalResult plan(std::optional<int64_t> budget) {
    if (failed(plan(budget, limit))) return failure();
    bool isEnough = budget && (lastPeak <= static_cast<int64_t>(limit) || !hasOverlap);
    return isEnough ? success() : plan(budget, kNoOverlap);
  }

  LogicalResult plan(std::optional<int64_t> budget, uint64_t overlapLimit) {
    MemoryPlan made;
    made.module = bufferized.clone();
    made.isGiven = !budget;
    PlanOptions trial = options;
    trial.memoryLimit = overlapLimit;
    auto addMemory = [&](OpPassManager& passes) {
      addMemoryStage(passes, trial, target, budget ? std::optional<uint64_t>(*budget) : std::nullopt, offload);
    };
    if (failed(alternatives.run(*made.module, addMemory)) || failed(measure(made))) return failure();
    lastPeak = static_cast<int64_t>(made.peak);
    hasOverlap = made.module->walk([](plan::DoneOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!budget && overlapLimit == kNoOverlap) unsplitPeak = lastPeak;
    keep(std::move(made), overlapLimit);
    return success();
  }

  LogicalResult measure(MemoryPlan& made) {
    ::sgd::artifact::ArtifactWriter writer;
    writer.artifact().target = target.getName().str();
    FailureOr<uint64_t> peak = exportForPeak(*made.module, writer);
    if (failed(peak)) return failure();
    made.peak = *peak;
    llvm::Expected<Topology> loaded = loadTopology(topology);
    if (!loaded) return emitError(UnknownLoc::get(bufferized.getContext())) << llvm::toString(loaded.takeError());
    FailureOr<StepTimes> times = timeStep(*made.module, writer.artifact(), *loaded);
    if (succeeded(times)) made.seconds = times->seconds;
    return times;
  }

  void keep(MemoryPlan made, uint64_t overlapLimit) {
    std::optional<MemoryPlan>& kept = made.peak <= limit ? best : smallest;
    // The smallest must not depend on the limit.
    if (made.peak > limit && hasOverlap && overlapLimit != kNoOverlap) return;
    if (!kept || made.isBetterThan(*kept, limit)) kept = std::move(made);
  }

  ModuleOp bufferized;
  const PlanOptions& options;
  const Alternatives& alternatives;
  const Target& target;
  const Effort effort;
  const std::string topology;
  const uint64_t limit;
  StringRef offload = "never";
  int64_t lastPeak = 0, unsplitPeak = 0;
  bool hasOverlap = false;  // in the last plan
  bool mayOverlap = false;  // in the plan without a limit
  std::optional<MemoryPlan> best, smallest;
};

}  // namespace

FailureOr<MemoryPlan> mlir::sgd::planWithinLimit(ModuleOp bufferized, const PlanOptions& options,
                                                 const Alternatives& alternatives, Effort effort) {
  return MemoryFitter(bufferized, options, alternatives, effort).run();
}

FailureOr<MemoryPlan> mlir::sgd::planForms(ArrayRef<ModuleOp> forms, const PlanOptions& options,
                                           const Alternatives& alternatives, Effort effort) {
  std::optional<MemoryPlan> best;
  for (ModuleOp form : forms) {
    FailureOr<MemoryPlan> plan = planWithinLimit(form, options, alternatives, effort);
    if (failed(plan)) return failure();
    if (!best || plan->isBetterThan(*best, options.memoryLimit)) best = std::move(*plan);
  }
  return std::move(*best);
}

FailureOr<MemoryPlan> mlir::sgd::planSmallest(ArrayRef<ModuleOp> forms, const PlanOptions& options,
                                              const Alternatives& alternatives) {
  FailureOr<MemoryPlan> smallest = planForms(forms, options, alternatives, Effort::Smallest);
  PlanOptions lower = options;
  // Candidates of a search for recipes that miss the limit are not reported.
  for (bool isLower = !options.isForSimulation;
       succeeded(smallest) && isLower && smallest->peak > *options.memoryLimit;) {
    isLower = false;
    for (uint64_t part : kLowerLimits) {
      lower.memoryLimit = smallest->peak - std::max<uint64_t>(smallest->peak / part, 1);
      FailureOr<MemoryPlan> found = planForms(forms, lower, alternatives, Effort::Limit);
      if (failed(found)) return failure();
      isLower = found->peak <= *lower.memoryLimit;
      if (!isLower) continue;
      smallest = std::move(found);
      break;
    }
  }
  return smallest;
}
