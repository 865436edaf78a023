// The pass sgd-choose-schedule. Estimates before kernels are formed count no launches, which decide for small programs:
// so plans are compared.
#include <cmath>

#include "compiler/pipelines/pipelines.h"
#include "compiler/report/planned_step.h"
#include "compiler/report/report.h"
#include "compiler/search/memory_search.h"
#include "compiler/search/passes.h"
#include "compiler/search/schedules.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/stages.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_CHOOSESCHEDULEPASS
#include "compiler/search/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// A later schedule must be faster by this factor: of several as fast, the first one keeps least.
static constexpr double kGain = 0.99;

namespace {

struct Candidate {
  std::string name;
  OwningOpRef<ModuleOp> local;    // before communication is hidden; under a memory limit
  OwningOpRef<ModuleOp> lowered;  // a plan; under a memory limit with buffers, to be planned
  Report report;

  PlanCost getCost() const { return {report.memory.peak, report.estimatedSeconds}; }
};

/// Compares candidates one after the other.
class ScheduleChoice {
 public:
  explicit ScheduleChoice(const Alternatives& alternatives)
      : alternatives(alternatives), limit(alternatives.getOptions().memoryLimit) {}

  /// Lowers `compilation`, one coordinate of the sequential axis, by schedule `name`, and keeps it if it is the best.
  void consider(OwningOpRef<ModuleOp> compilation, StringRef name);
  /// Whether a schedule can be faster than the best one: each computes what the busiest stage does.
  bool canGain() const;
  /// The plan of the best one. Emits its diagnostics, or those of the first one that failed.
  FailureOr<OwningOpRef<ModuleOp>> take();

 private:
  LogicalResult lower(Candidate& candidate);
  LogicalResult report(Candidate& candidate, ModuleOp plan);

  const Alternatives& alternatives;
  const std::optional<uint64_t> limit;
  std::optional<Candidate> best;
  HeldDiagnostics diagnostics;  // of the best one, or of the first one that failed
};

}  // namespace

LogicalResult ScheduleChoice::report(Candidate& candidate, ModuleOp plan) {
  llvm::Expected<Topology> topology = loadTopology(alternatives.getOptions().topology);
  if (!topology) return emitError(plan.getLoc()) << llvm::toString(topology.takeError());
  FailureOr<StepTimes> times = timeStep(plan, alternatives.getTarget().getName(), *topology);
  if (failed(times)) return failure();
  candidate.report = computeReport(plan, /*constantBytes=*/0, *times, *topology, LowerBound());
  return success();
}

/// Plans memory to report it; under a limit of a copy, since the limit asks for another plan.
LogicalResult ScheduleChoice::lower(Candidate& candidate) {
  ModuleOp lowered = *candidate.lowered;
  for (ModuleOp program : getPrograms(lowered))
    getMesh(program)->setAttr(kScheduleAttr, StringAttr::get(alternatives.getContext(), candidate.name));
  auto addSpmd = [&](OpPassManager& passes) { addSpmdStage(passes, alternatives.getOptions()); };
  if (failed(alternatives.runStage(lowered, addSpmd))) return failure();
  if (limit) candidate.local = lowered.clone();
  if (failed(alternatives.hideAndLower(lowered))) return failure();
  OwningOpRef<ModuleOp> copy = limit ? lowered.clone() : ModuleOp();
  ModuleOp planned = limit ? *copy : lowered;
  return failure(failed(alternatives.planMemory(planned)) || failed(report(candidate, planned)));
}

bool ScheduleChoice::canGain() const {
  if (!best || !best->getCost().fits(limit)) return true;
  double busiest = 0;
  for (const StageReport& stage : best->report.stages) busiest = std::max(busiest, stage.seconds);
  return busiest < kGain * best->report.estimatedSeconds;
}

void ScheduleChoice::consider(OwningOpRef<ModuleOp> compilation, StringRef name) {
  Candidate candidate{name.str(), nullptr, std::move(compilation), Report()};
  LogicalResult result = failure();
  HeldDiagnostics held(alternatives.getContext(), [&] { result = lower(candidate); });
  if (succeeded(result) && (!best || candidate.getCost().isBetterThan(best->getCost(), limit, kGain))) {
    best.emplace(std::move(candidate));
    diagnostics = std::move(held);
  } else if (!best && diagnostics.empty()) {
    diagnostics = std::move(held);
  }
}

FailureOr<OwningOpRef<ModuleOp>> ScheduleChoice::take() {
  diagnostics.emit(alternatives.getContext());
  if (!best) return failure();
  emitRemark(getReportedFunction(*best->lowered).getLoc())
      << "schedule '" << best->name << (best->getCost().fits(limit) ? "' is the fastest" : "' needs the least memory")
      << "; its pipeline bubble is " << std::lround(100 * best->report.bubble) << " %";
  if (limit) return findPlanWithinLimit(alternatives, *best->local, std::move(best->lowered));
  return std::move(best->lowered);
}

namespace {
struct ChooseSchedulePass : mlir::sgd::impl::ChooseSchedulePassBase<ChooseSchedulePass> {
  using ChooseSchedulePassBase::ChooseSchedulePassBase;

  void getDependentDialects(DialectRegistry& registry) const override { addDialectsOfStages(registry); }

  void runOnOperation() override {
    auto run = [this](OpPassManager& passes) { return runPipeline(passes, getOperation()); };
    FailureOr<Alternatives> alternatives = Alternatives::create(getOperation(), text, run);
    if (failed(alternatives) || failed(choose(*alternatives))) signalPassFailure();
  }

 private:
  LogicalResult choose(const Alternatives& alternatives) {
    std::vector<std::string> names = getSchedulesToChoose(getPrograms(getOperation()), alternatives.getOptions());
    if (names.empty())
      return getOperation().emitError()
             << "leaves no choice of a schedule; expected a mesh with stages, a batch in several "
                "parts and several schedules; leave this pass out";
    OwningOpRef<ModuleOp> compilation = alternatives.take();
    auto addLocalize = [&](OpPassManager& passes) { addLocalizeStage(passes, alternatives.getOptions()); };
    if (failed(alternatives.runStage(*compilation, addLocalize))) return failure();
    ScheduleChoice choice(alternatives);
    for (const std::string& name : names) {
      if (!choice.canGain()) break;
      ++numLowered;
      choice.consider(compilation->clone(), name);
    }
    FailureOr<OwningOpRef<ModuleOp>> best = choice.take();
    if (failed(best)) return failure();
    alternatives.choose(std::move(*best));
    return success();
  }
};
}  // namespace
