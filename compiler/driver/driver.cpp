// Runs the stages of a compilation over all programs and collects what they produce.
#include "compiler/driver/driver.h"

#include <chrono>
#include <map>

#include "compiler/bound/lower_bound.h"
#include "compiler/driver/choose_schedule.h"
#include "compiler/driver/create_request.h"
#include "compiler/driver/diagnostics.h"
#include "compiler/driver/load_programs.h"
#include "compiler/driver/lowering.h"
#include "compiler/driver/memory_refusal.h"
#include "compiler/driver/pipelines.h"
#include "compiler/driver/programs.h"
#include "compiler/driver/registration.h"
#include "compiler/driver/split_memory.h"
#include "compiler/expectations/check_expectations.h"
#include "compiler/export/export.h"
#include "compiler/export/export_interface.h"
#include "compiler/export/kernel_table.h"
#include "compiler/recipe/passes.h"
#include "compiler/report/planned_step.h"
#include "compiler/target/target.h"
#include "dialects/sgd/stages.h"
#include "frontends/text/mlir_text.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

DialectRegistry getRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  registerExports(registry);
  return registry;
}

/// The options that programs are read with: whether layers' loops are kept, and the loss that is asked for.
using ReadOptions = std::pair<bool, std::string>;

/// Programs behind addReadStage.
using KnownPrograms = std::map<ReadOptions, OwningOpRef<ModuleOp>>;

class Driver {
 public:
  /// `known` is null where nothing is kept.
  Driver(MLIRContext& context, llvm::raw_ostream& errors, Timings* timings, KnownPrograms* known)
      : timings(timings), known(known), context(context), printer(&context, errors) {}

  /// From texts.
  FailureOr<Compilation> compile(ArrayRef<ProgramSource> sources, const CompileOptions& options) {
    return run([&] {
      if (failed(createTarget(options)) || failed(setRequest(createRequest(sources, options, *target))))
        return failure();
      warnOfTf32();
      return failure(failed(load(sources)) || failed(lower(std::nullopt)));
    });
  }

  /// From the module of a compilation.
  FailureOr<Compilation> replay(const ProgramSource& request) {
    return run([&] {
      printer.setFileName(request.fileName);
      OwningOpRef<ModuleOp> compilation = parseText(&context, getBuffer(request));
      if (!compilation) return failure();
      FailureOr<Request> read = Request::read(*compilation);
      if (failed(read) || failed(createTarget(read->options)) || failed(setRequest(*read))) return failure();
      lowering.emplace(getContext(), std::move(compilation));
      return lower(read->level);
    });
  }

  /// The programs as a recipe finds them, with its `annotations` followed. Null after an error.
  OwningOpRef<ModuleOp> read(ArrayRef<ProgramSource> sources, const CompileOptions& options) {
    if (failed(createTarget(options)) || failed(setRequest(createRequest(sources, options, *target)))) return nullptr;
    if (failed(load(sources)) || failed(readPrograms())) return nullptr;
    auto drop = [](OpPassManager& passes) { passes.addPass(createDropAnnotationsPass()); };
    return succeeded(lowering->runStage(drop)) ? lowering->take() : nullptr;
  }

 private:
  FailureOr<Compilation> run(llvm::function_ref<LogicalResult()> compile) {
    auto start = std::chrono::steady_clock::now();
    if (failed(compile())) {
      printer.error("the compiler failed without saying why; please report this model");
      return failure();
    }
    result.emitted = lowering->getEmitted().programs;
    result.request = lowering->getEmitted().request;
    result.report.target = getOptions().target;
    result.report.compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result);
  }

  LogicalResult createTarget(const CompileOptions& options) {
    llvm::Expected<std::unique_ptr<Target>> found = Target::create(options);
    if (!found) return emitError(UnknownLoc::get(&context)) << llvm::toString(found.takeError());
    target = std::move(*found);
    return success();
  }

  void warnOfTf32() {
    if (getOptions().allowTf32 && !target->getLibraries().roundsToTf32())
      emitWarning(UnknownLoc::get(&context))
          << "--allow-tf32 changes nothing: the target " << target->getName() << " computes all f32 matmuls in f32";
  }

  LogicalResult setRequest(Request request) {
    FailureOr<Requested> read = Requested::create(&context, std::move(request));
    if (failed(read)) return failure();
    requested = std::move(*read);
    return requested.recipe ? checkOffload() : success();
  }

  /// Whether what the recipe asks for can be.
  LogicalResult checkOffload() {
    const std::string& offload = getOptions().offload;
    FileOfDiagnostics file(&context, requested.recipe->fileName);
    if (offload.empty() || offload == "never") return success();
    if (!target->getDescription().hasOwnMemory)
      return emitError(UnknownLoc::get(&context))
             << "field 'offload' is \"" << offload << "\", and target '" << target->getName()
             << "' computes in the host's memory; expected a target with memory of its own, or \"auto\" or \"never\"; "
                "compile with --target=cuda:..., or leave the field out";
    if (!getOptions().memoryLimit)
      return emitError(UnknownLoc::get(&context))
             << "field 'offload' is \"" << offload
             << "\", and there is no limit to keep; expected one, since what fits stays on the device; add a field "
                "'memory_limit', or --memory-limit";
    return success();
  }

  /// The programs as imported, or, of those that are known, as addReadStage leaves them.
  LogicalResult load(ArrayRef<ProgramSource> sources) {
    OwningOpRef<ModuleOp> compilation;
    auto kept = known ? known->find(getReadOptions()) : KnownPrograms::iterator();
    if (known && kept != known->end()) {
      compilation = kept->second->clone();
      compilation.get()->setAttr(kRequestAttr, requested.request.toAttr(&context));
      isRead = true;
    } else {
      compilation = importPrograms(context, sources, requested, printer, timings);
    }
    if (!compilation) return failure();
    lowering.emplace(getContext(), std::move(compilation));
    return checkStages(lowering->getCompilation(), requested, printer);
  }

  LogicalResult readPrograms() {
    if (isRead) return success();
    if (failed(lowering->runStage(addReadStage))) return failure();
    if (known) known->try_emplace(getReadOptions(), lowering->getCompilation().clone());
    return success();
  }

  /// From the level that programs have reached to the plan, or to the level that is asked for.
  LogicalResult lower(std::optional<EmitLevel> reached) {
    if (!reached) {
      lowering->emit(std::nullopt);
      if (isDone(std::nullopt)) return success();
      auto addRecipe = [&](OpPassManager& passes) { addRecipeStage(passes, getOptions()); };
      if (failed(readPrograms()) || failed(lowering->runStage(addRecipe))) return failure();
      lowering->emit(EmitLevel::Graph);
      if (isDone(EmitLevel::Graph)) return success();
      reached = EmitLevel::Graph;
    }
    const bool isByStages = hasStages(lowering->getPrograms().front());
    if (*reached < EmitLevel::Spmd && !isByStages) {
      if (failed(partition(*reached))) return failure();
      if (isDone(EmitLevel::Sharded)) return success();
      if (failed(lowerByBestSchedule())) return failure();
    } else {
      if (*reached < EmitLevel::Spmd) {
        // Stages that were written by hand are sharded by hand.
        lowering->emit(EmitLevel::Sharded);
        if (isDone(EmitLevel::Sharded)) return success();
        if (failed(lowering->runStage(addLocalStage))) return failure();
      }
      if (failed(lowerLocal(*reached))) return failure();
    }
    if (isDone(EmitLevel::Spmd) || isDone(EmitLevel::Kernels)) return success();
    lowering->emit(EmitLevel::Plan);
    return finish();
  }

  /// From the graph to the program of one coordinate of the sequential axis, or to the level of shardings if no more is
  /// asked for.
  LogicalResult partition(EmitLevel reached) {
    if (reached < EmitLevel::Sharded) {
      auto addSharding = [&](OpPassManager& passes) { addShardingStage(passes, getOptions()); };
      if (failed(lowering->runStage(addSharding))) return failure();
      lowering->emit(EmitLevel::Sharded);
    }
    if (isDone(EmitLevel::Sharded)) return success();
    if (comparesWithUnsplit()) unsplit.emplace(lowering->clone());
    return lowering->runStage([&](OpPassManager& passes) { addLocalizeStage(passes, getOptions()); });
  }

  /// Under a limit less memory is no aim of its own; micro-batches of a pipeline keep its stages busy.
  bool comparesWithUnsplit() const {
    return getOptions().sequential && !getOptions().isForSimulation && !getOptions().memoryLimit &&
           !getStageAxis(getMesh(lowering->getPrograms().front()));
  }

  LogicalResult lowerByBestSchedule() {
    std::vector<std::string> schedules = getSchedulesToChoose(lowering->getPrograms(), getContext());
    if (schedules.empty()) return failure(failed(lowering->formStages()) || failed(lowerLocal(EmitLevel::Sharded)));
    printer.setFileName(requested.getFile(0));
    FailureOr<Lowering> chosen = chooseSchedule(std::move(*lowering), schedules, getContext());
    if (failed(chosen)) return failure();
    lowering.emplace(std::move(*chosen));
    return getOptions().memoryLimit ? lowering->planMemory() : success();
  }

  /// From the SPMD level to a plan, or to the level that is asked for.
  LogicalResult lowerLocal(EmitLevel reached) {
    if (reached < EmitLevel::Spmd && failed(lowering->hideCommunication())) return failure();
    if (isDone(EmitLevel::Spmd)) return success();
    if (reached < EmitLevel::Kernels && failed(lowering->lowerToKernels())) return failure();
    if (isDone(EmitLevel::Kernels) || reached == EmitLevel::Plan) return success();
    return failure(failed(lowering->lowerToBuffers()) || failed(lowering->planMemory()));
  }

  const PlanOptions& getOptions() const { return requested.options; }
  ReadOptions getReadOptions() const {
    const bool isByRecipe = getOptions().loss.empty() && requested.recipe;
    return {getOptions().keepsLayerLoops, isByRecipe ? requested.recipe->loss : getOptions().loss};
  }
  LoweringContext getContext() { return {requested.options, *target, requested.request.programs, printer, timings}; }

  /// Whether no more is asked for than `level`; with neither an artifact nor a text, the report is. Under a memory
  /// limit, the program whose text can be replayed is chosen by its plan.
  bool isDone(std::optional<EmitLevel> level) const {
    const PlanOptions& options = getOptions();
    if (options.writeArtifact || options.emit != level) return false;
    if (!level) return options.emitsRequest;
    bool isChosenLater = level == EmitLevel::Spmd || level == EmitLevel::Kernels;
    return !options.emitsRequest || !options.memoryLimit || !isChosenLater;
  }

  LogicalResult finish() {
    ModuleOp plan = lowering->getCompilation();
    Timings::Scope scope(timings, "export");
    ::sgd::artifact::ArtifactWriter writer;
    writer.artifact().compiler_version = "sgdc " SGD_VERSION;
    writer.artifact().target = target->getName().str();
    if (failed(exportPlan(plan, writer))) return failure();
    llvm::Expected<Topology> topology = loadTopology(getOptions().topology);
    if (!topology) return emitError(UnknownLoc::get(&context)) << llvm::toString(topology.takeError());
    LowerBound bound = LowerBound::fromAttr(plan->getAttrOfType<DictionaryAttr>(kLowerBoundAttr));
    // Whoever asks for a simulation times the step himself.
    FailureOr<StepTimes> times = StepTimes();
    if (!getOptions().isForSimulation) times = timeStep(plan, writer.artifact(), *topology);
    if (failed(times)) return failure();
    result.report = computeReport(plan, writer.constant_bytes(), *times, *topology, std::move(bound));
    if (!getOptions().isForSimulation) result.explanation = computeExplanation(plan, *topology);
    if (failed(checkMemory(plan)) || failed(checkExpected(plan))) return failure();
    if (unsplit) {
      Timings::Scope compared(timings, "plan unsplit");
      SplitPlan split{result.report.memory.peak, writer.constant_bytes(), !getOptions().isCutByRecipe};
      warnOfLargerSplit(std::move(*unsplit), split, getContext());
    }
    if (!getOptions().writeArtifact) return success();
    if (failed(declareKernels(plan, target->getKernelModel(timings), writer.artifact()))) return failure();
    if (getOptions().isForSimulation) return serialize(writer.SerializeWithoutCode());
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
    const PlanOptions& options = getOptions();
    if (!options.memoryLimit || result.report.memory.peak <= *options.memoryLimit) return success();
    StringRef limit = options.isLimitedByRecipe ? "the recipe's memory_limit" : "--memory-limit";
    return emitMemoryRefusal(getReportedFunction(plan), result.report.memory.peak, *options.memoryLimit, limit);
  }

  LogicalResult checkExpected(ModuleOp plan) {
    if (!requested.recipe) return success();
    FileOfDiagnostics file(&context, requested.recipe->fileName);
    return checkExpectations(plan, result.report, requested.recipe->expectations);
  }

  Timings* timings;
  KnownPrograms* known;
  MLIRContext& context;
  DiagnosticPrinter printer;
  std::unique_ptr<Target> target;
  Requested requested;
  bool isRead = false;  // programs are behind addReadStage
  std::optional<Lowering> lowering;
  std::optional<Lowering> unsplit;  // the same before the batch is cut, to compare memory
  Compilation result;
};

/// The context of one compilation.
std::unique_ptr<MLIRContext> createContext(Timings* timings) {
  Timings::Scope scope(timings, "load dialects");
  return std::make_unique<MLIRContext>(getRegistry(), MLIRContext::Threading::DISABLED);
}

}  // namespace

FailureOr<Compilation> mlir::sgd::compile(ArrayRef<ProgramSource> sources, const CompileOptions& options,
                                          llvm::raw_ostream& errors, Timings* timings) {
  std::unique_ptr<MLIRContext> context = createContext(timings);
  return Driver(*context, errors, timings, /*known=*/nullptr).compile(sources, options);
}

FailureOr<Compilation> mlir::sgd::replay(const ProgramSource& request, llvm::raw_ostream& errors, Timings* timings) {
  std::unique_ptr<MLIRContext> context = createContext(timings);
  return Driver(*context, errors, timings, /*known=*/nullptr).replay(request);
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

FailureOr<Compilation> CompileSession::compile(const CompileOptions& options, llvm::raw_ostream& errors,
                                               Timings* timings) {
  return Driver(state->context, errors, timings, &state->known).compile(state->sources, options);
}

LogicalResult CompileSession::visitPrograms(const CompileOptions& options, bool keepsAnnotations,
                                            llvm::raw_ostream& errors,
                                            llvm::function_ref<LogicalResult(ModuleOp)> visit) {
  CompileOptions trial = options;
  trial.recipeFile = "--auto";
  trial.recipe = keepsAnnotations ? "{}" : "{\"annotations\": \"ignore\"}";
  OwningOpRef<ModuleOp> programs;
  {
    Driver driver(state->context, errors, /*timings=*/nullptr, &state->known);
    programs = driver.read(state->sources, trial);
  }
  if (!programs) return failure();
  DiagnosticPrinter printer(&state->context, errors);
  printer.setFileName(state->sources.front().fileName);
  return visit(*programs);
}
