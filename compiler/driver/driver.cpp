// Runs the stages of a compilation over all programs and collects what they produce.
#include "compiler/driver/driver.h"

#include <chrono>

#include "compiler/driver/choose_schedule.h"
#include "compiler/driver/diagnostics.h"
#include "compiler/driver/memory_refusal.h"
#include "compiler/expectations/check_expectations.h"
#include "compiler/export/export.h"
#include "compiler/export/export_interface.h"
#include "compiler/export/kernel_table.h"
#include "compiler/locations.h"
#include "compiler/driver/load_programs.h"
#include "compiler/driver/lowering.h"
#include "compiler/driver/pipelines.h"
#include "compiler/driver/programs.h"
#include "compiler/driver/registration.h"
#include "compiler/driver/split_memory.h"
#include "compiler/recipe/compress.h"
#include "compiler/report/planned_step.h"
#include "compiler/report/repeated_ops.h"
#include "compiler/target/target.h"
#include "dialects/sgd/stages.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

DialectRegistry getRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  registerExports(registry);
  return registry;
}

class Driver {
 public:
  /// `known` is null where nothing is kept.
  Driver(MLIRContext& context, ArrayRef<ProgramSource> sources, const CompileOptions& options,
         llvm::raw_ostream& errors, Timings* timings, KnownPrograms* known)
      : sources(sources),
        options(options),
        timings(timings),
        known(known),
        context(context),
        printer(&context, errors) {}

  FailureOr<Compilation> run() {
    auto start = std::chrono::steady_clock::now();
    if (failed(compile())) {
      printer.error("the compiler failed without saying why; please report this model");
      return failure();
    }
    result.emitted = lowering->getEmitted();
    result.report.target = options.target;
    result.report.compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result);
  }

 private:
  LogicalResult compile() {
    llvm::Expected<std::unique_ptr<Target>> found = Target::create(options);
    if (!found) return emitError(UnknownLoc::get(&context)) << llvm::toString(found.takeError());
    target = std::move(*found);
    if (options.topology.empty()) options.topology = target->getDescription().topology;
    if (options.allowTf32 && !target->getLibraries().roundsToTf32())
      emitWarning(UnknownLoc::get(&context))
          << "--allow-tf32 changes nothing: the target " << target->getName() << " computes all f32 matmuls in f32";
    if (failed(readRecipe()) || failed(load())) return failure();
    lowering->emit(EmitLevel::Graph);
    if (isDone(EmitLevel::Graph)) return success();
    const bool isLocal = hasStages(getModules().front());
    if (failed(isLocal ? lowering->runStage(addLocalStage) : partition())) return failure();
    if (!isLocal && isDone(EmitLevel::Sharded)) return success();
    if (failed(isLocal ? lowerLocal() : lower())) return failure();
    if (isDone(EmitLevel::Spmd) || isDone(EmitLevel::Kernels)) return success();
    lowering->emit(EmitLevel::Plan);
    return finish();
  }

  /// From the graph to the program of one coordinate of the sequential axis, or to the level of shardings if no more is
  /// asked for.
  LogicalResult partition() {
    if (options.shardUpdates) pinSharedArguments(lowering->getPrograms());
    if (failed(lowering->runStage([&](PassManager& passes) { addShardingStage(passes, options); }))) return failure();
    warnOfRepeated();
    computeBound();
    lowering->emit(EmitLevel::Sharded);
    if (isDone(EmitLevel::Sharded)) return success();
    if (comparesWithUnsplit()) unsplit.emplace(lowering->clone());
    if (failed(lowering->runStage([&](PassManager& passes) { addLocalizeStage(passes, options); }))) return failure();
    return recipe ? checkCompression() : success();
  }

  /// Under a limit less memory is no aim of its own; micro-batches of a pipeline keep its stages busy.
  bool comparesWithUnsplit() const {
    return options.sequential && !options.isForSimulation && !options.memoryLimit &&
           !getStageAxis(getMesh(getModules().front()));
  }

  LogicalResult lower() {
    std::vector<std::string> schedules = getSchedulesToChoose(getModules(), getContext());
    if (schedules.empty()) return failure(failed(lowering->formStages()) || failed(lowerLocal()));
    printer.setFileName(sources.front().fileName);
    FailureOr<Lowering> chosen = chooseSchedule(std::move(*lowering), schedules, getContext());
    if (failed(chosen)) return failure();
    lowering.emplace(std::move(*chosen));
    return options.memoryLimit ? lowering->planMemory() : success();
  }

  /// From the SPMD level to a plan, or to the level that is asked for.
  LogicalResult lowerLocal() {
    if (failed(lowering->hideCommunication())) return failure();
    if (isDone(EmitLevel::Spmd)) return success();
    if (failed(lowering->lowerToKernels())) return failure();
    if (isDone(EmitLevel::Kernels)) return success();
    return failure(failed(lowering->lowerToBuffers()) || failed(lowering->planMemory()));
  }

  LoweringContext getContext() { return {options, *target, sources, printer, timings}; }
  SmallVector<ModuleOp> getModules() const { return lowering->getModules(); }
  func::FuncOp getReported() const { return getReportedFunction(getModules()); }

  void warnOfRepeated() {
    if (options.isForSimulation) return;
    for (auto [program, source] : llvm::zip(getModules(), sources)) {
      func::FuncOp reported = getReported();
      if (!reported || reported->getParentOfType<ModuleOp>() != program) continue;
      printer.setFileName(source.fileName);
      warnOfRepeatedOps(reported);
    }
  }

  /// Of the program that will be reported: see getReportedFunction.
  void computeBound() {
    if (options.isForSimulation) return;
    Timings::Scope scope(timings, "lower bound");
    func::FuncOp reported = getReported();
    if (!reported) return;
    // Later stages fold some ops to constants (x - x, a choice between equal values): fold first.
    OwningOpRef<ModuleOp> folded = reported->getParentOfType<ModuleOp>().clone();
    (void)applyPatternsGreedily(folded.get(), RewritePatternSet(&context));
    bound = computeLowerBound(folded->lookupSymbol<func::FuncOp>(reported.getName()));
  }

  LogicalResult readRecipe() {
    if (options.recipeFile.empty()) return success();
    printer.setFileName(options.recipeFile);
    llvm::Expected<Recipe> read = parseRecipe(options.recipe, options.recipeFile);
    if (!read) return emitError(UnknownLoc::get(&context)) << llvm::toString(read.takeError());
    recipe = std::move(*read);
    options.keepsLayerLoops = recipe->stages.has_value();
    options.bucketBytes = recipe->bucketBytes;
    if (recipe->attention) options.attention = getName(*recipe->attention).str();
    sequentialIsOfFlag = options.sequential.has_value();
    if (!sequentialIsOfFlag) options.sequential = recipe->sequential;
    limitIsOfRecipe = !options.memoryLimit && recipe->memoryLimit;
    if (limitIsOfRecipe) options.memoryLimit = recipe->memoryLimit;
    options.offload = recipe->offload;
    options.sumsInOwnType = recipe->sumsInOwnType;
    options.exchangesInLoops = recipe->exchangesInLoops;
    return checkOffload();
  }

  LogicalResult load() {
    ProgramLoader loader(context, sources, options, recipe ? &*recipe : nullptr, printer, timings, known);
    bool isCutByRecipe = recipe && recipe->sequential && !sequentialIsOfFlag;
    auto loaded = loader.load(options.topology, isCutByRecipe);
    if (failed(loaded)) return failure();
    lowering.emplace(getContext(), std::move(*loaded));
    return success();
  }

  /// Whether what the recipe asks for can be.
  LogicalResult checkOffload() {
    if (options.offload.empty() || options.offload == "never") return success();
    if (!target->getDescription().hasOwnMemory)
      return emitError(UnknownLoc::get(&context))
             << "field 'offload' is \"" << options.offload << "\", and target '" << target->getName()
             << "' computes in the host's memory; expected a target with memory of its own, or \"auto\" or \"never\"; "
                "compile with --target=cuda:..., or leave the field out";
    if (!options.memoryLimit)
      return emitError(UnknownLoc::get(&context))
             << "field 'offload' is \"" << options.offload
             << "\", and there is no limit to keep; expected one, since what fits stays on the device; add a field "
                "'memory_limit', or --memory-limit";
    return success();
  }

  LogicalResult checkCompression() {
    printer.setFileName(recipe->fileName);
    return checkCompressed(lowering->getPrograms(), *recipe);
  }

  bool isDone(EmitLevel level) const { return !options.writeArtifact && options.emit == level; }

  LogicalResult finish() {
    ModuleOp plan = getModules().front();
    Timings::Scope scope(timings, "export");
    ::sgd::artifact::ArtifactWriter writer;
    writer.artifact().compiler_version = "sgdc " SGD_VERSION;
    writer.artifact().target = target->getName().str();
    if (failed(exportPlan(plan, writer))) return failure();
    llvm::Expected<Topology> topology = loadTopology(options.topology);
    if (!topology) return emitError(UnknownLoc::get(&context)) << llvm::toString(topology.takeError());
    // Whoever asks for a simulation times the step himself.
    FailureOr<StepTimes> times = StepTimes();
    if (!options.isForSimulation) times = timeStep(plan, writer.artifact(), *topology);
    if (failed(times)) return failure();
    result.report = computeReport(plan, writer.constant_bytes(), *times, *topology, std::move(bound));
    if (!options.isForSimulation) result.explanation = computeExplanation(plan, *topology);
    if (failed(checkMemory(plan)) || failed(checkExpected(plan))) return failure();
    if (unsplit) {
      Timings::Scope compared(timings, "plan unsplit");
      SplitPlan split{result.report.memory.peak, writer.constant_bytes(), !recipe || sequentialIsOfFlag};
      warnOfLargerSplit(std::move(*unsplit), split, getContext());
    }
    if (!options.writeArtifact) return success();
    if (failed(declareKernels(plan, target->getKernelModel(timings), writer.artifact()))) return failure();
    if (options.isForSimulation) return serialize(writer.SerializeWithoutCode());
    if (failed(target->compileKernels(plan, writer, timings))) return failure();
    describeKernels(plan, *topology, writer.artifact());
    exportDevice(*topology, writer.artifact());
    return serialize(writer.Serialize());
  }

  LogicalResult serialize(absl::StatusOr<std::string> bytes) {
    if (!bytes.ok())
      return emitError(UnknownLoc::get(&context))
             << "the artifact is not valid: " << std::string(bytes.status().message());
    result.artifact = std::move(*bytes);
    return success();
  }

  LogicalResult checkMemory(ModuleOp plan) {
    if (!options.memoryLimit || result.report.memory.peak <= *options.memoryLimit) return success();
    StringRef limit = limitIsOfRecipe ? "the recipe's memory_limit" : "--memory-limit";
    return emitMemoryRefusal(getReportedFunction(plan), result.report.memory.peak, *options.memoryLimit, limit);
  }

  LogicalResult checkExpected(ModuleOp plan) {
    if (!recipe) return success();
    printer.setFileName(recipe->fileName);
    return checkExpectations(plan, result.report, recipe->expectations);
  }

  ArrayRef<ProgramSource> sources;
  CompileOptions options;  // with what the target and the recipe add
  Timings* timings;
  KnownPrograms* known;
  MLIRContext& context;
  DiagnosticPrinter printer;
  std::unique_ptr<Target> target;
  std::optional<Lowering> lowering;  // of all programs
  std::optional<Lowering> unsplit;   // the same before the batch is cut, to compare memory
  std::optional<Recipe> recipe;
  bool limitIsOfRecipe = false, sequentialIsOfFlag = false;
  LowerBound bound;
  Compilation result;
};

}  // namespace

FailureOr<Compilation> mlir::sgd::compile(ArrayRef<ProgramSource> sources, const CompileOptions& options,
                                          llvm::raw_ostream& errors, Timings* timings) {
  std::optional<MLIRContext> context;
  {
    Timings::Scope scope(timings, "load dialects");
    context.emplace(getRegistry(), MLIRContext::Threading::DISABLED);
  }
  return Driver(*context, sources, options, errors, timings, /*known=*/nullptr).run();
}

struct CompileSession::State {
  ArrayRef<ProgramSource> sources;
  MLIRContext context{getRegistry(), MLIRContext::Threading::DISABLED};
  KnownPrograms known;
};

CompileSession::CompileSession(ArrayRef<ProgramSource> sources) : state(std::make_unique<State>()) {
  state->sources = sources;
}

CompileSession::~CompileSession() = default;

FailureOr<Compilation> CompileSession::compile(const CompileOptions& options, llvm::raw_ostream& errors) {
  return Driver(state->context, state->sources, options, errors, /*timings=*/nullptr, &state->known).run();
}

LogicalResult CompileSession::visitPrograms(const CompileOptions& options, bool keepsAnnotations,
                                            llvm::raw_ostream& errors,
                                            llvm::function_ref<LogicalResult(ReadPrograms&)> visit) {
  DiagnosticPrinter printer(&state->context, errors);
  Recipe recipe;
  recipe.keepsAnnotations = keepsAnnotations;
  ProgramLoader loader(state->context, state->sources, options, &recipe, printer, /*timings=*/nullptr, &state->known);
  FailureOr<ReadPrograms> read = loader.read();
  if (failed(read)) return failure();
  printer.setFileName(state->sources.front().fileName);
  return visit(*read);
}
