// Estimates before kernels are formed count no launches, which decide for small programs: so plans are compared.
#include "compiler/driver/choose_schedule.h"

#include <cmath>

#include "compiler/driver/pipelines.h"
#include "compiler/driver/programs.h"
#include "compiler/report/report.h"
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stages.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "passes/cost/message_cost.h"
#include "passes/stages/pipeline_schedule.h"
#include "passes/stages/plan_program.h"

using namespace mlir;
using namespace mlir::sgd;

/// A later schedule must be faster by this factor: of several as fast, the first one keeps least.
static constexpr double kGain = 0.99;

static StringRef getAskedSchedule(MeshOp mesh) {
  auto asked = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  return asked ? asked.getValue() : StringRef();
}

static void nameSchedule(ArrayRef<ModuleOp> programs, StringRef name) {
  for (ModuleOp program : programs)
    getMesh(program)->setAttr(kScheduleAttr, StringAttr::get(program.getContext(), name));
}

/// Plans clones of `programs` with schedule `name`; returns nothing where that fails.
static std::optional<Report> planSchedule(ArrayRef<ModuleOp> programs, StringRef name, const CompileOptions& options,
                                          const Target& target, const Topology& topology) {
  MLIRContext* context = ModuleOp(programs.front()).getContext();
  ScopedDiagnosticHandler quiet(context, [](Diagnostic&) { return success(); });
  std::vector<OwningOpRef<ModuleOp>> clones;
  SmallVector<ModuleOp> modules;
  for (ModuleOp program : programs) modules.push_back(*clones.emplace_back(program.clone()));
  nameSchedule(modules, name);
  if (failed(shareStages(modules, getTopologyName(options, target.getDescription())))) return std::nullopt;
  auto run = [&](ModuleOp module, llvm::function_ref<void(PassManager&)> add) {
    PassManager passes(context);
    passes.enableVerifier(false);
    add(passes);
    return passes.run(module);
  };
  for (ModuleOp module : modules)
    if (failed(run(module, [&](PassManager& passes) {
          addSpmdStage(passes, options, target);
          addHidingStage(passes, options, target);
          addKernelStage(passes, options, target);
        })))
      return std::nullopt;
  joinPrograms(clones);
  if (failed(run(*clones.front(), [&](PassManager& passes) {
        addBufferStage(passes, target, target.getKernelModel(/*timings=*/nullptr));
        addMemoryStage(passes, options, target);
      })))
    return std::nullopt;
  return computeReport(*clones.front(), /*constantBytes=*/0, topology, LowerBound());
}

void mlir::sgd::chooseSchedule(ArrayRef<ModuleOp> programs, const CompileOptions& options, const Target& target,
                               Timings* timings) {
  MeshOp mesh = getMesh(programs.front());
  if (!getStageAxis(mesh) || !getActiveSequentialAxis(mesh)) return;
  std::vector<StringRef> names = getScheduleChoices(getAskedSchedule(mesh));
  llvm::Expected<Topology> topology = loadTopology(getTopologyName(options, target.getDescription()));
  if (!topology) return llvm::consumeError(topology.takeError());  // said where costs are first asked for
  // A limit may be too low for what 1F1B keeps in flight while messages are sent.
  bool hasLinks = !sharesMemory(topology->links.back());
  if (options.memoryLimit && hasLinks && llvm::is_contained(names, "1f1b")) names.push_back("1f1b:0");
  if (names.size() == 1) return;
  Timings::Scope scope(timings, "choose schedule");
  std::optional<Report> best;
  StringRef chosen;
  // The faster one of two that fit; the smaller one where both are too large, so that the smallest limit is named.
  auto fits = [&](const Report& report) { return !options.memoryLimit || report.memory.peak <= *options.memoryLimit; };
  auto isBetter = [&](const Report& next, const Report& before) {
    if (fits(next) != fits(before)) return fits(next);
    if (!fits(next)) return next.memory.peak < before.memory.peak;
    return next.estimatedSeconds < kGain * before.estimatedSeconds;
  };
  for (StringRef name : names) {
    std::optional<Report> report = planSchedule(programs, name, options, target, *topology);
    if (!report || (best && !isBetter(*report, *best))) continue;
    best = std::move(report);
    chosen = name;
  }
  if (!best) return;
  nameSchedule(programs, chosen);
  StringRef reason = excess(*best) ? "' needs the least memory, with " : "' is the fastest, with ";
  emitRemark(getReportedFunction(programs).getLoc())
      << "schedule '" << chosen << reason << std::lround(100 * best->bubble) << " % of the time waited";
}
