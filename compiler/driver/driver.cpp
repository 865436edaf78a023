// Runs the stages of a compilation over all programs and collects what they produce.
#include "compiler/driver/driver.h"

#include <chrono>
#include <map>

#include "compiler/bound/lower_bound.h"
#include "compiler/driver/create_request.h"
#include "compiler/driver/diagnostics.h"
#include "compiler/driver/load_programs.h"
#include "compiler/driver/programs.h"
#include "compiler/driver/registration.h"
#include "compiler/driver/run_stage.h"
#include "compiler/driver/split_memory.h"
#include "compiler/expectations/check_expectations.h"
#include "compiler/export/export.h"
#include "compiler/export/kernel_table.h"
#include "compiler/pipelines/pipelines.h"
#include "compiler/recipe/passes.h"
#include "compiler/report/passes.h"
#include "compiler/report/planned_step.h"
#include "compiler/report/program_text.h"
#include "compiler/search/passes.h"
#include "compiler/search/schedules.h"
#include "compiler/target/target.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/stages.h"
#include "frontends/text/mlir_text.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

DialectRegistry getRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
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
      compilation = parseText(&context, getBuffer(request));
      if (!compilation) return failure();
      FailureOr<Request> read = Request::read(*compilation);
      if (failed(read) || failed(createTarget(read->options)) || failed(setRequest(*read))) return failure();
      printer.setFileName(requested.getFile(0));
      return lower(read->level);
    });
  }

  /// The programs as a recipe finds them, with its `annotations` followed. Null after an error.
  OwningOpRef<ModuleOp> read(ArrayRef<ProgramSource> sources, const CompileOptions& options) {
    if (failed(createTarget(options)) || failed(setRequest(createRequest(sources, options, *target)))) return nullptr;
    if (failed(load(sources)) || failed(readPrograms())) return nullptr;
    auto drop = [](OpPassManager& passes) { passes.addPass(createDropAnnotationsPass()); };
    return succeeded(runStage(drop)) ? std::move(compilation) : nullptr;
  }

 private:
  FailureOr<Compilation> run(llvm::function_ref<LogicalResult()> compile) {
    auto start = std::chrono::steady_clock::now();
    if (failed(compile())) {
      printer.error("the compiler failed without saying why; please report this model");
      return failure();
    }
    if (auto text = compilation.get()->getAttrOfType<StringAttr>(kTextAttr)) result.emitted = text.str();
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
    auto kept = known ? known->find(getReadOptions()) : KnownPrograms::iterator();
    if (known && kept != known->end()) {
      compilation = kept->second->clone();
      compilation.get()->setAttr(kRequestAttr, requested.request.toAttr(&context));
      isRead = true;
    } else {
      compilation = importPrograms(context, sources, requested, printer, timings);
    }
    if (!compilation) return failure();
    printer.setFileName(requested.getFile(0));
    return checkStages(*compilation, requested, printer);
  }

  LogicalResult runStage(llvm::function_ref<void(OpPassManager&)> add) {
    return mlir::sgd::runStage(*compilation, requested.request.programs, timings, add);
  }

  LogicalResult readPrograms() {
    if (isRead) return success();
    if (failed(runStage(addReadStage))) return failure();
    if (known) known->try_emplace(getReadOptions(), compilation->clone());
    return success();
  }

  /// From the level that programs have reached to the plan, or to the level that is asked for.
  LogicalResult lower(std::optional<EmitLevel> reached) {
    if (!reached) {
      recordRequest(std::nullopt);
      if (isDone(std::nullopt)) return success();
      auto addRecipe = [&](OpPassManager& passes) { addRecipeStage(passes, getOptions()); };
      if (failed(readPrograms()) || failed(runStage(addRecipe))) return failure();
      reached = EmitLevel::Graph;
      recordRequest(reached);
      if (isDone(reached)) return success();
    }
    const bool isByStages = hasStages(getPrograms(*compilation).front());
    if (*reached < EmitLevel::Sharded && !isByStages) {
      if (failed(runStage([&](OpPassManager& passes) { addShardingStage(passes, getOptions()); }))) return failure();
      reached = EmitLevel::Sharded;
      recordRequest(reached);
      if (isDone(reached)) return success();
    }
    return isByStages ? lowerStages(*reached) : lowerSharded(*reached);
  }

  /// Stages that were written by hand are sharded by hand.
  LogicalResult lowerStages(EmitLevel reached) {
    if (reached < EmitLevel::Spmd) {
      if (failed(recordText(EmitLevel::Sharded))) return failure();
      recordRequest(EmitLevel::Sharded);
      if (isDone(EmitLevel::Sharded)) return success();
      if (failed(runStage([&](OpPassManager& passes) { addLocalStage(passes, getOptions()); }))) return failure();
    }
    return lowerLocal(reached);
  }

  LogicalResult lowerSharded(EmitLevel reached) {
    if (reached < EmitLevel::Spmd) {
      if (!getSchedulesToChoose(getPrograms(*compilation), getOptions()).empty()) {
        recordRequestOfSearch();
        return planBy(createChooseSchedulePass(ChooseSchedulePassOptions{getSearchedText()}));
      }
      auto addUnsplit = [](OpPassManager& passes) { passes.addPass(createRecordUnsplitPeakPass()); };
      if (comparesWithUnsplit() && failed(runStage(addUnsplit))) return failure();
      if (failed(runStage([&](OpPassManager& passes) { addLocalizeStage(passes, getOptions()); })) ||
          failed(runStage([&](OpPassManager& passes) { addSpmdStage(passes, getOptions()); })))
        return failure();
    }
    return lowerLocal(reached);
  }

  /// Under a limit less memory is no aim of its own; micro-batches of a pipeline keep its stages busy. A text alone has
  /// no warnings of a plan.
  bool comparesWithUnsplit() const {
    const PlanOptions& options = getOptions();
    const bool isForText = !options.emitsRequest && (isDone(EmitLevel::Spmd) || isDone(EmitLevel::Kernels));
    return options.sequential && !options.isForSimulation && !options.memoryLimit && !isForText &&
           !getStageAxis(getMesh(getPrograms(*compilation).front()));
  }

  /// From the SPMD level to a plan, or to the level that is asked for.
  LogicalResult lowerLocal(EmitLevel reached) {
    const bool isSearched = getOptions().memoryLimit && reached < EmitLevel::Kernels;
    if (isSearched) {
      recordRequestOfSearch();
      if (!isDone(EmitLevel::Spmd) && !isDone(EmitLevel::Kernels))
        return planBy(createPlanWithinLimitPass(PlanWithinLimitPassOptions{getSearchedText()}));
    }
    auto addHiding = [&](OpPassManager& passes) { addHidingStage(passes, getOptions()); };
    if ((isSearched || reached < EmitLevel::Spmd) && failed(runStage(addHiding))) return failure();
    if (!isSearched) recordRequest(EmitLevel::Spmd);
    if (isDone(EmitLevel::Spmd)) return success();
    auto addKernels = [&](OpPassManager& passes) {
      addKernelStage(passes, getOptions(), *target, /*packsWeights=*/true);
    };
    if (reached < EmitLevel::Kernels && failed(runStage(addKernels))) return failure();
    if (!isSearched) recordRequest(EmitLevel::Kernels);
    if (isDone(EmitLevel::Kernels)) return success();
    if (reached < EmitLevel::Plan && failed(planMemory())) return failure();
    return finish();
  }

  LogicalResult planMemory() {
    auto addBuffers = [&](OpPassManager& passes) { addBufferStage(passes, *target, target->getKernelModel(timings)); };
    auto addMemory = [&](OpPassManager& passes) { addMemoryStage(passes, getOptions(), *target); };
    return failure(failed(runStage(addBuffers)) || failed(runStage(addMemory)));
  }

  /// Lowers the compilation to its plan by a search.
  LogicalResult planBy(std::unique_ptr<Pass> search) {
    if (failed(runStage([&](OpPassManager& passes) { passes.addPass(std::move(search)); }))) return failure();
    return finish();
  }

  /// The level whose text a search notes, as its option.
  std::string getSearchedText() const {
    const std::optional<EmitLevel> level = getOptions().emit;
    return level == EmitLevel::Spmd || level == EmitLevel::Kernels ? getName(*level).str() : "";
  }

  /// Notes the programs' text if `level`, which no stage ends, is asked for.
  LogicalResult recordText(EmitLevel level) {
    if (getOptions().emit != level) return success();
    return runStage([](OpPassManager& passes) { passes.addPass(createRecordTextPass()); });
  }

  /// A search passes over the SPMD level and kernels: a request at these levels is the compilation before it.
  void recordRequestOfSearch() {
    recordRequest(EmitLevel::Spmd);
    recordRequest(EmitLevel::Kernels);
  }

  /// Prints the compilation if `level` is asked for; nothing is the state as imported.
  void recordRequest(std::optional<EmitLevel> level) {
    if (!getOptions().emitsRequest || getOptions().emit != level) return;
    Timings::Scope scope(timings, "print");
    ModuleOp module = *compilation;
    Attribute text = module->removeAttr(kTextAttr);
    llvm::raw_string_ostream stream(result.request);
    module.print(stream, OpPrintingFlags().enableDebugInfo());
    stream << "\n";
    if (text) module->setAttr(kTextAttr, text);
  }

  const PlanOptions& getOptions() const { return requested.options; }
  ReadOptions getReadOptions() const {
    const bool isByRecipe = getOptions().loss.empty() && requested.recipe;
    return {getOptions().keepsLayerLoops, isByRecipe ? requested.recipe->loss : getOptions().loss};
  }

  /// Whether no more is asked for than `level`; with neither an artifact nor a text, the report is.
  bool isDone(std::optional<EmitLevel> level) const {
    const PlanOptions& options = getOptions();
    return !options.writeArtifact && options.emit == level && (level || options.emitsRequest);
  }

  /// From the plan to what is asked for.
  LogicalResult finish() {
    if (failed(recordText(EmitLevel::Plan))) return failure();
    recordRequest(EmitLevel::Plan);
    ModuleOp plan = *compilation;
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
    if (failed(checkExpected(plan))) return failure();
    warnOfLargerSplit(plan, result.report.memory.peak, writer.constant_bytes(), getOptions());
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
  OwningOpRef<ModuleOp> compilation;
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
