#include "compiler/driver/load_programs.h"

#include "compiler/driver/programs.h"
#include "compiler/recipe/apply.h"
#include "compiler/recipe/compress.h"
#include "compiler/recipe/loss.h"
#include "compiler/recipe/sequential.h"
#include "compiler/recipe/stages.h"
#include "dialects/sgd/stages.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/carry/passes.h"
#include "passes/cost/topology.h"
#include "passes/layers/passes.h"
#include "passes/layers/split_layers.h"
#include "passes/manual/passes.h"
#include "passes/stages/plan_program.h"

using namespace mlir;
using namespace mlir::sgd;

FailureOr<ReadPrograms> ProgramLoader::read() {
  if (known && known->count(options.keepsLayerLoops)) {
    takeKnown();
  } else {
    if (failed(readTexts())) return failure();
    if (known) {
      known->try_emplace(options.keepsLayerLoops, ReadPrograms{std::move(programs), isLocal});
      takeKnown();
    }
  }
  if (recipe && !hasStages(*programs.front())) {
    printer.setFileName(recipe->fileName);
    if (failed(dropAnnotations(programs, *recipe, isLocal))) return failure();
  }
  return ReadPrograms{std::move(programs), isLocal};
}

void ProgramLoader::takeKnown() {
  ReadPrograms& read = known->at(options.keepsLayerLoops);
  programs.clear();
  for (OwningOpRef<ModuleOp>& program : read.programs) programs.push_back(program->clone());
  isLocal = read.isLocal;
}

LogicalResult ProgramLoader::readTexts() {
  for (const ProgramSource& source : sources) {
    printer.setFileName(source.fileName);
    OwningOpRef<ModuleOp> program = loadProgram(&context, source, options, timings);
    if (!program) return failure();
    programs.push_back(std::move(program));
  }
  if (failed(checkOneLevel()) || failed(shareMesh(programs))) return failure();
  for (auto [program, source] : llvm::zip(programs, sources)) {
    printer.setFileName(source.fileName);
    if (failed(checkStateNames(*program)) || failed(decideCarry(*program))) return failure();
    isLocal |= program->walk([](ManualComputationOp) { return WalkResult::interrupt(); }).wasInterrupted();
    // On the mesh that the program was written for.
    if (failed(expandManualComputations(*program))) return failure();
  }
  if (failed(markLosses())) return failure();
  for (auto [program, source] : llvm::zip(programs, sources)) {
    printer.setFileName(source.fileName);
    if (failed(keepUncommitted(*program))) return failure();
  }
  return success();
}

/// On whole programs: dataflow between parts of them is not known.
LogicalResult ProgramLoader::markLosses() {
  if (hasStages(*programs.front())) {
    if (options.loss.empty()) return success();
    printer.setFileName(sources.front().fileName);
    return emitError(UnknownLoc::get(&context))
           << "--loss names a result, but the programs are written by stages; expected whole programs; leave it out";
  }
  bool isOfRecipe = recipe && options.loss.empty();
  printer.setFileName(isOfRecipe ? recipe->fileName : sources.front().fileName);
  SmallVector<func::FuncOp> functions;
  for (OwningOpRef<ModuleOp>& program : programs) functions.push_back(*program->getOps<func::FuncOp>().begin());
  return sgd::markLosses(functions, isOfRecipe ? recipe->loss : options.loss, isOfRecipe ? "field 'loss'" : "--loss");
}

/// Before programs share a mesh: which of them are written by stages.
LogicalResult ProgramLoader::checkOneLevel() {
  for (auto [program, source] : llvm::zip(programs, sources)) {
    printer.setFileName(source.fileName);
    if (hasStages(*program) != hasStages(*programs.front()))
      return emitError(UnknownLoc::get(&context))
             << "program '" << source.name << "' and program '" << sources.front().name
             << "' are not both written by stages; expected all programs of an artifact at one level; write the "
                "stages of all";
  }
  return success();
}

/// Pipelines that were written by hand.
LogicalResult ProgramLoader::checkStages() {
  for (auto [program, source] : llvm::zip(programs, sources)) {
    printer.setFileName(source.fileName);
    if (hasStages(*program) && (recipe || !options.mesh.empty() || options.sequential))
      return emitError(UnknownLoc::get(&context))
             << "program '" << source.name
             << "' is written by stages for its mesh; expected no --recipe, --mesh and "
                "--micro, which are for whole programs; leave them out";
  }
  return success();
}

LogicalResult ProgramLoader::decideCarry(ModuleOp program) {
  PassManager passes(&context);
  passes.enableVerifier(false);
  if (timings) passes.addInstrumentation(createPassTimer(timings));
  passes.addNestedPass<func::FuncOp>(createDecideCarryPass());
  return passes.run(program);
}

/// When losses are known: what decides about a commit depends on them.
LogicalResult ProgramLoader::keepUncommitted(ModuleOp program) {
  PassManager passes(&context);
  passes.enableVerifier(false);
  if (timings) passes.addInstrumentation(createPassTimer(timings));
  passes.addNestedPass<func::FuncOp>(createKeepUncommittedPass());
  return passes.run(program);
}

LogicalResult ProgramLoader::expandManualComputations(ModuleOp program) {
  PassManager passes(&context);
  passes.enableVerifier(false);
  if (timings) passes.addInstrumentation(createPassTimer(timings));
  passes.addPass(createExpandManualPass());
  passes.addNestedPass<func::FuncOp>(createForwardSlicesPass());
  return passes.run(program);
}

FailureOr<std::vector<OwningOpRef<ModuleOp>>> ProgramLoader::load(StringRef topology, bool isCutByRecipe) {
  FailureOr<ReadPrograms> read = this->read();
  if (failed(read)) return failure();
  programs = std::move(read->programs);
  if (failed(resizeMeshes()) || failed(splitLoopsOverLayers(topology)) || failed(annotateByRecipe()) ||
      failed(cutBatchInTime(isCutByRecipe)))
    return failure();
  for (auto [program, source] : llvm::zip(programs, sources)) {
    printer.setFileName(source.fileName);
    if (failed(verify(*program))) return failure();
  }
  if (failed(checkStages())) return failure();
  return std::move(programs);
}

LogicalResult ProgramLoader::resizeMeshes() {
  if (recipe) {
    printer.setFileName(recipe->fileName);
    if (failed(applyRecipeMesh(programs, *recipe))) return failure();
  }
  for (auto [program, source] : llvm::zip(programs, sources)) {
    printer.setFileName(source.fileName);
    if (failed(resizeMesh(*program, options.mesh))) return failure();
  }
  return success();
}

/// The virtual stages that a recipe or the mesh asks for; 1 where arguments say where they are.
FailureOr<unsigned> ProgramLoader::getWantedStages() {
  if (recipe && recipe->stages)
    return recipe->stages->matches.empty() ? getNumVirtualStages(*recipe, &context) : FailureOr<unsigned>(1);
  MeshOp mesh = getMesh(*programs.front());
  MeshAxisAttr axis = getStageAxis(mesh);
  if (!axis || hasStages(*programs.front())) return 1u;
  for (OwningOpRef<ModuleOp>& program : programs)
    for (auto function : program->getOps<func::FuncOp>())
      for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
        if (function.getArgAttr(argument, kStageAttr)) return 1u;
  auto schedule = mesh->getAttrOfType<StringAttr>(kScheduleAttr);
  StringRef first = getScheduleChoices(schedule ? schedule.getValue() : StringRef()).front();
  llvm::Expected<PipelineForm> form = parseSchedule(first, static_cast<unsigned>(axis.getSize()));
  if (form) return form->getNumVirtualStages();
  llvm::consumeError(form.takeError());  // said where the schedule is chosen
  return 1u;
}

/// Before tensors are sharded: each stage has layers of its own.
LogicalResult ProgramLoader::splitLoopsOverLayers(StringRef topology) {
  FailureOr<unsigned> stages = getWantedStages();
  if (failed(stages)) return failure();
  if (*stages == 1) return success();
  llvm::Expected<Topology> loaded = loadTopology(topology);
  if (!loaded) return emitError(UnknownLoc::get(&context)) << llvm::toString(loaded.takeError());
  SmallVector<ModuleOp> modules;
  for (OwningOpRef<ModuleOp>& program : programs) modules.push_back(*program);
  splitLayers(modules, *stages, CostModel(*loaded, {}));
  return success();
}

LogicalResult ProgramLoader::annotateByRecipe() {
  if (!recipe) return success();
  printer.setFileName(recipe->fileName);
  if (failed(applyRecipe(programs, *recipe)) || failed(applyStages(programs, *recipe))) return failure();
  warnOfOneMicroBatch();
  return success();
}

/// Warns of a pipeline whose stages compute one after the other.
void ProgramLoader::warnOfOneMicroBatch() {
  if (!recipe->stages || recipe->stages->count == 1 || options.sequential || options.isForSimulation) return;
  emitWarning(UnknownLoc::get(&context))
      << "field 'stages' without 'sequential': with one micro-batch, only one stage computes at a time; add "
         "\"sequential\": {\"micro\": 8}, or another number of micro-batches";
}

LogicalResult ProgramLoader::cutBatchInTime(bool isCutByRecipe) {
  if (!options.sequential) return success();
  if (isCutByRecipe) printer.setFileName(recipe->fileName);
  return cutBatch(programs, *options.sequential, isCutByRecipe ? "field 'sequential'" : "--micro");
}
