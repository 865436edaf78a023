// Estimates before kernels are formed count no launches, which decide for small programs: so plans are compared.
#include "compiler/driver/choose_schedule.h"

#include <cmath>

#include "compiler/driver/pipelines.h"
#include "compiler/report/planned_step.h"
#include "compiler/report/report.h"
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stages.h"
#include "passes/cost/message_cost.h"
#include "passes/stages/pipeline_schedule.h"

using namespace mlir;
using namespace mlir::sgd;

/// A later schedule must be faster by this factor: of several as fast, the first one keeps least.
static constexpr double kGain = 0.99;

namespace {
struct Candidate {
  std::string name;
  Lowering lowering;
  Report report;
};

/// Compares candidates one after the other.
class ScheduleChoice {
 public:
  explicit ScheduleChoice(const LoweringContext& context) : context(context) {}

  /// Lowers `lowering` by schedule `name`, and keeps it if it is the best.
  void consider(Lowering lowering, StringRef name);
  /// Whether a schedule can be faster than the best one: each computes what the busiest stage does.
  bool canGain() const;
  FailureOr<Lowering> take();

 private:
  LogicalResult lower(Candidate& candidate);
  bool isBetter(const Report& report) const;
  bool fits(const Report& report) const {
    return !context.options.memoryLimit || report.memory.peak <= *context.options.memoryLimit;
  }

  const LoweringContext& context;
  std::optional<Candidate> best;
  DiagnosticPrinter::Held messages;  // of the best one, or of the first one that failed
};
}  // namespace

/// Plans memory to report it; under a limit of a copy, since the limit asks for another plan.
LogicalResult ScheduleChoice::lower(Candidate& candidate) {
  Lowering& lowering = candidate.lowering;
  for (ModuleOp module : lowering.getPrograms())
    getMesh(module)->setAttr(kScheduleAttr, StringAttr::get(module.getContext(), candidate.name));
  if (failed(lowering.formStages()) || failed(lowering.hideCommunication()) || failed(lowering.lowerToKernels()) ||
      failed(lowering.lowerToBuffers()))
    return failure();
  std::optional<Lowering> copy;
  if (context.options.memoryLimit) copy.emplace(lowering.clone());
  Lowering& planned = copy ? *copy : lowering;
  if (failed(planned.planMemoryAsIs())) return failure();
  llvm::Expected<Topology> topology = loadTopology(context.options.topology);
  ModuleOp module = planned.getCompilation();
  if (!topology) return emitError(module.getLoc()) << llvm::toString(topology.takeError());
  FailureOr<StepTimes> times = timeStep(module, context.target.getName(), *topology);
  if (failed(times)) return failure();
  candidate.report = computeReport(module, /*constantBytes=*/0, *times, *topology, LowerBound());
  return success();
}

/// The faster one of two that fit; the smaller one where both are too large, so that the smallest limit is named.
bool ScheduleChoice::isBetter(const Report& report) const {
  if (!best) return true;
  if (fits(report) != fits(best->report)) return fits(report);
  if (!fits(report)) return report.memory.peak < best->report.memory.peak;
  return report.estimatedSeconds < kGain * best->report.estimatedSeconds;
}

bool ScheduleChoice::canGain() const {
  if (!best || !fits(best->report)) return true;
  double busiest = 0;
  for (const StageReport& stage : best->report.stages) busiest = std::max(busiest, stage.seconds);
  return busiest < kGain * best->report.estimatedSeconds;
}

void ScheduleChoice::consider(Lowering lowering, StringRef name) {
  Candidate candidate{name.str(), std::move(lowering), Report()};
  LogicalResult result = failure();
  DiagnosticPrinter::Held held = context.printer.hold([&] { result = lower(candidate); });
  if (succeeded(result) && isBetter(candidate.report)) {
    best.emplace(std::move(candidate));
    messages = std::move(held);
  } else if (!best && messages.text.empty()) {
    messages = std::move(held);
  }
}

FailureOr<Lowering> ScheduleChoice::take() {
  context.printer.print(messages);
  if (!best) return failure();
  emitRemark(getReportedFunction(best->lowering.getCompilation()).getLoc())
      << "schedule '" << best->name << (fits(best->report) ? "' is the fastest" : "' needs the least memory")
      << "; its pipeline bubble is " << std::lround(100 * best->report.bubble) << " %";
  best->lowering.setTimings(context.timings);
  return std::move(best->lowering);
}

/// Whether messages are on their way while their senders go on. An error of the topology is said where costs are first
/// asked for.
static bool hasLinks(StringRef name) {
  llvm::Expected<Topology> topology = loadTopology(name);
  if (topology) return !sharesMemory(topology->links.back());
  llvm::consumeError(topology.takeError());
  return false;
}

std::vector<std::string> mlir::sgd::getSchedulesToChoose(ArrayRef<ModuleOp> programs, const LoweringContext& context) {
  MeshOp mesh = getMesh(programs.front());
  if (!getStageAxis(mesh) || !getActiveSequentialAxis(mesh)) return {};
  auto asked = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  std::vector<StringRef> names = getScheduleChoices(asked ? asked.getValue() : StringRef());
  // A limit may be too low for what 1F1B keeps in flight while messages are sent.
  if (context.options.memoryLimit && llvm::is_contained(names, "1f1b") && hasLinks(context.options.topology))
    names.push_back("1f1b:0");
  if (names.size() == 1) return {};
  return {names.begin(), names.end()};
}

FailureOr<Lowering> mlir::sgd::chooseSchedule(Lowering local, ArrayRef<std::string> names,
                                              const LoweringContext& context) {
  ScheduleChoice choice(context);
  const Lowering other = local.clone();
  choice.consider(std::move(local), names.front());  // pass by pass in the times; all others as the choice
  Timings::Scope scope(context.timings, "choose schedule");
  for (const std::string& name : names.drop_front())
    if (choice.canGain()) choice.consider(other.clone(), name);
  return choice.take();
}
