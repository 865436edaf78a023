// Ends where the level that is asked for is reached. A search goes from a level to the plan at once.
#include "compiler/driver/lowering.h"

#include "compiler/driver/programs.h"
#include "compiler/driver/run_stage.h"
#include "compiler/pipelines/pipelines.h"
#include "compiler/report/passes.h"
#include "compiler/report/program_text.h"
#include "compiler/search/passes.h"
#include "compiler/search/schedules.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/stages.h"

using namespace mlir;
using namespace mlir::sgd;

bool Lowering::isDone(std::optional<EmitLevel> level) const {
  // With neither an artifact nor a text, the report is asked for.
  return !options.writeArtifact && options.emit == level && (level || options.emitsRequest);
}

LogicalResult Lowering::runStage(llvm::function_ref<void(OpPassManager&)> add) {
  return mlir::sgd::runStage(compilation, requested.request.programs, timings, add);
}

FailureOr<bool> Lowering::run(std::optional<EmitLevel> reached) {
  if (!reached) {
    if (failed(runStage([&](OpPassManager& passes) { addRecipeStage(passes, options); }))) return failure();
    reached = EmitLevel::Graph;
    recordRequest(reached);
    if (isDone(reached)) return false;
  }
  auto lower = hasStages(getPrograms(compilation).front()) ? &Lowering::lowerStages : &Lowering::lowerSharded;
  if (failed((this->*lower)(*reached))) return failure();
  return isPlan;
}

/// Stages that were written by hand are sharded by hand.
LogicalResult Lowering::lowerStages(EmitLevel reached) {
  if (reached < EmitLevel::Spmd) {
    if (failed(recordText(EmitLevel::Sharded))) return failure();
    recordRequest(EmitLevel::Sharded);
    if (isDone(EmitLevel::Sharded)) return success();
    if (failed(runStage([&](OpPassManager& passes) { addLocalStage(passes, options); }))) return failure();
  }
  return lowerLocal(reached);
}

/// From the graph, or a later level, to a plan, or to the level that is asked for.
LogicalResult Lowering::lowerSharded(EmitLevel reached) {
  if (reached < EmitLevel::Sharded) {
    if (failed(runStage([&](OpPassManager& passes) { addShardingStage(passes, options); }))) return failure();
    recordRequest(EmitLevel::Sharded);
    if (isDone(EmitLevel::Sharded)) return success();
  }
  if (reached < EmitLevel::Spmd) {
    if (!getSchedulesToChoose(getPrograms(compilation), options).empty()) {
      recordRequestOfSearch();
      return planBy(createChooseSchedulePass(ChooseSchedulePassOptions{getSearchedText()}));
    }
    auto addUnsplit = [](OpPassManager& passes) { passes.addPass(createRecordUnsplitPeakPass()); };
    if (comparesWithUnsplit() && failed(runStage(addUnsplit))) return failure();
    if (failed(runStage([&](OpPassManager& passes) { addLocalizeStage(passes, options); })) ||
        failed(runStage([&](OpPassManager& passes) { addSpmdStage(passes, options); })))
      return failure();
  }
  return lowerLocal(reached);
}

/// Under a limit less memory is no aim of its own; micro-batches of a pipeline keep its stages busy. A text alone has
/// no warnings of a plan.
bool Lowering::comparesWithUnsplit() const {
  const bool isForText = !options.emitsRequest && isDoneInSearch();
  return options.sequential && !options.isForSimulation && !options.memoryLimit && !isForText &&
         !getStageAxis(getMesh(getPrograms(compilation).front()));
}

/// From the SPMD level, or a later one, to a plan, or to the level that is asked for.
LogicalResult Lowering::lowerLocal(EmitLevel reached) {
  const bool isSearched = options.memoryLimit && reached < EmitLevel::Kernels;
  if (isSearched) {
    recordRequestOfSearch();
    if (!isDoneInSearch()) return planBy(createPlanWithinLimitPass(PlanWithinLimitPassOptions{getSearchedText()}));
  }
  auto addHiding = [&](OpPassManager& passes) { addHidingStage(passes, options); };
  if ((isSearched || reached < EmitLevel::Spmd) && failed(runStage(addHiding))) return failure();
  if (!isSearched) recordRequest(EmitLevel::Spmd);
  if (isDone(EmitLevel::Spmd)) return success();
  auto addKernels = [&](OpPassManager& passes) { addKernelStage(passes, options, target, /*packsWeights=*/true); };
  if (reached < EmitLevel::Kernels && failed(runStage(addKernels))) return failure();
  if (!isSearched) recordRequest(EmitLevel::Kernels);
  if (isDone(EmitLevel::Kernels)) return success();
  if (reached < EmitLevel::Plan && failed(planMemory())) return failure();
  return endPlan();
}

LogicalResult Lowering::planMemory() {
  auto addBuffers = [&](OpPassManager& passes) { addBufferStage(passes, target, target.getKernelModel(timings)); };
  auto addMemory = [&](OpPassManager& passes) { addMemoryStage(passes, options, target); };
  return failure(failed(runStage(addBuffers)) || failed(runStage(addMemory)));
}

/// Lowers the compilation to its plan by a search.
LogicalResult Lowering::planBy(std::unique_ptr<Pass> search) {
  if (failed(runStage([&](OpPassManager& passes) { passes.addPass(std::move(search)); }))) return failure();
  if (isDoneInSearch()) return success();
  return endPlan();
}

LogicalResult Lowering::endPlan() {
  auto addCheck = [](OpPassManager& passes) { passes.addPass(createCheckMemoryLimitPass()); };
  if ((options.memoryLimit && failed(runStage(addCheck))) || failed(recordText(EmitLevel::Plan))) return failure();
  recordRequest(EmitLevel::Plan);
  isPlan = true;
  return success();
}

/// The level whose text a search notes, as its option.
std::string Lowering::getSearchedText() const {
  const bool isSearched = options.emit == EmitLevel::Spmd || options.emit == EmitLevel::Kernels;
  if (options.emitsStablehlo) return "stablehlo";
  return isSearched ? getName(*options.emit).str() : "";
}

/// Notes the programs' text if `level`, which no stage ends, is asked for.
LogicalResult Lowering::recordText(EmitLevel level) {
  if (options.emit != level) return success();
  return runStage([](OpPassManager& passes) { passes.addPass(createRecordTextPass()); });
}

/// A search passes over the SPMD level and kernels: a request at these levels is the compilation before it.
void Lowering::recordRequestOfSearch() {
  recordRequest(EmitLevel::Spmd);
  recordRequest(EmitLevel::Kernels);
}

void Lowering::recordRequest(std::optional<EmitLevel> level) {
  if (!options.emitsRequest || options.emit != level) return;
  Timings::Scope scope(timings, "print");
  Attribute text = compilation->removeAttr(kTextAttr);
  llvm::raw_string_ostream stream(request);
  compilation.print(stream, OpPrintingFlags().enableDebugInfo());
  stream << "\n";
  if (text) compilation->setAttr(kTextAttr, text);
}
