// Runs the stages of a compilation over all programs and collects what they produce.
#include "compiler/driver/driver.h"

#include <chrono>

#include "compiler/driver/choose_schedule.h"
#include "compiler/driver/diagnostics.h"
#include "compiler/driver/fit_memory.h"
#include "compiler/driver/memory_refusal.h"
#include "compiler/export/export.h"
#include "compiler/export/export_interface.h"
#include "compiler/export/kernel_table.h"
#include "compiler/locations.h"
#include "compiler/driver/load_programs.h"
#include "compiler/driver/pipelines.h"
#include "compiler/driver/programs.h"
#include "compiler/driver/registration.h"
#include "compiler/recipe/compress.h"
#include "compiler/report/repeated_ops.h"
#include "compiler/target/target.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/prefetch/prefetched_attr.h"
#include "passes/remat/passes.h"
#include "passes/rings/rings_attr.h"
#include "passes/stages/plan_program.h"

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
    result.report.target = options.target;
    result.report.compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result);
  }

 private:
  LogicalResult compile() {
    llvm::Expected<std::unique_ptr<Target>> found = Target::create(options);
    if (!found) return emitError(UnknownLoc::get(&context)) << llvm::toString(found.takeError());
    target = std::move(*found);
    if (options.allowTf32 && !target->getLibraries().roundsToTf32())
      emitWarning(UnknownLoc::get(&context))
          << "--allow-tf32 changes nothing: the target " << target->getName() << " computes all f32 matmuls in f32";
    if (failed(readRecipe()) || failed(load())) return failure();
    emit(EmitLevel::Graph);
    if (isDone(EmitLevel::Graph)) return success();
    if (hasStages(*programs.front())) {
      if (failed(runStage([&](PassManager& passes) { addLocalStage(passes); }))) return failure();
    } else {
      if (failed(partition())) return failure();
      if (isDone(EmitLevel::Sharded)) return success();
    }
    SmallVector<OwningOpRef<ModuleOp>, 0> local;  // to be lowered again when memory is short
    if (options.memoryLimit && !isDone(EmitLevel::Kernels)) local = clonePrograms(programs);
    if (failed(runStage([&](PassManager& passes) { addHidingStage(passes, options, *target); }))) return failure();
    emit(EmitLevel::Spmd);
    if (isDone(EmitLevel::Spmd)) return success();
    if (failed(lowerToKernels())) return failure();
    if (isDone(EmitLevel::Kernels)) return success();
    if (failed(lowerToBuffers()) || failed(planMemory(local))) return failure();
    emit(EmitLevel::Plan);
    return finish();
  }

  /// From the graph to the SPMD level, or to that of shardings if no more is asked for.
  LogicalResult partition() {
    if (options.shardUpdates) pinSharedArguments(programs);
    if (failed(runStage([&](PassManager& passes) { addShardingStage(passes, options); }))) return failure();
    warnOfRepeated();
    computeBound();
    emit(EmitLevel::Sharded);
    if (isDone(EmitLevel::Sharded)) return success();
    if (failed(runStage([&](PassManager& passes) { addLocalizeStage(passes, options); }))) return failure();
    SmallVector<ModuleOp> modules;
    for (OwningOpRef<ModuleOp>& program : programs) modules.push_back(*program);
    printer.setFileName(sources.front().fileName);
    chooseSchedule(modules, options, *target, timings);
    if (failed(shareStages(modules, getTopologyName(options, target->getDescription())))) return failure();
    if (failed(runStage([&](PassManager& passes) { addSpmdStage(passes, options, *target); }))) return failure();
    return recipe ? checkCompression() : success();
  }

  static SmallVector<OwningOpRef<ModuleOp>, 0> clonePrograms(MutableArrayRef<OwningOpRef<ModuleOp>> programs) {
    SmallVector<OwningOpRef<ModuleOp>, 0> clones;
    for (OwningOpRef<ModuleOp>& program : programs) clones.push_back(program->clone());
    return clones;
  }

  LogicalResult lowerToKernels() {
    if (failed(runStage([&](PassManager& passes) { addKernelStage(passes, options, *target); }))) return failure();
    emit(EmitLevel::Kernels);
    return success();
  }

  /// Programs become one module.
  LogicalResult lowerToBuffers() {
    joinPrograms(programs);
    programs.resize(1);
    KernelModel model = target->getKernelModel(timings);
    return runStage([&](PassManager& passes) { addBufferStage(passes, *target, model); });
  }

  /// One way to lower the programs, with buffers.
  struct Form {
    OwningOpRef<ModuleOp> module;
    std::string emitted;
  };

  /// Whether the program holds more than it must, to hide communication.
  static bool hidesMore(ModuleOp module) {
    return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
      return function->hasAttr(kPrefetchedAttr) || function->hasAttr(kRingsAttr);
    });
  }

  /// Lowers clones of `local` instead of `programs`.
  LogicalResult lowerAgain(MutableArrayRef<OwningOpRef<ModuleOp>> local, const std::string& emitted) {
    programs.clear();
    for (OwningOpRef<ModuleOp>& clone : clonePrograms(local)) programs.push_back(std::move(clone));
    result.emitted = options.emit == EmitLevel::Kernels ? std::string() : emitted;
    return failure(failed(lowerToKernels()) || failed(lowerToBuffers()));
  }

  /// `local` are the programs before kernels and before the stage that hides communication.
  LogicalResult planMemory(MutableArrayRef<OwningOpRef<ModuleOp>> local) {
    if (!options.memoryLimit) return runStage([&](PassManager& passes) { addMemoryStage(passes, options, *target); });
    if (hidesMore(*programs.front())) {
      OwningOpRef<ModuleOp> ahead = programs.front()->clone();
      FailureOr<MemoryPlan> plan = planWithinLimit(*ahead, options, *target, Effort::Limit, timings);
      if (failed(plan)) return failure();
      bool fits = plan->isGiven && plan->peak <= *options.memoryLimit;
      if (!fits && failed(lowerAgain(local, result.emitted))) return failure();
    }
    SmallVector<Form, 0> forms;  // as given, and with ever more of loops recomputed
    forms.push_back({std::move(programs.front()), std::move(result.emitted)});
    FailureOr<FormPlan> best = planForms(getModules(forms), options, *target, Effort::Limit, timings);
    if (failed(best)) return failure();
    bool isEnough = best->plan.isGiven && best->plan.peak <= *options.memoryLimit;
    if (!isEnough && failed(addLoopForms(local, forms))) return failure();
    SmallVector<ModuleOp> modules = getModules(forms);
    if (forms.size() > 1) {
      auto other = planForms(ArrayRef(modules).drop_front(), options, *target, Effort::Limit, timings);
      if (failed(other)) return failure();
      if (other->plan.isBetterThan(best->plan, *options.memoryLimit))
        best = FormPlan{std::move(other->plan), other->form + 1};
    }
    if (best->plan.peak > *options.memoryLimit) best = planSmallest(modules, options, *target, timings);
    if (failed(best)) return failure();
    result.emitted = forms[best->form].emitted;
    programs.clear();
    programs.push_back(std::move(best->plan.module));
    Timings::Scope scope(timings, "verify");
    return verify(*programs.front());
  }

  static SmallVector<ModuleOp> getModules(ArrayRef<Form> forms) {
    return llvm::map_to_vector(forms, [](const Form& form) { return ModuleOp(*form.module); });
  }

  /// A few of the ways to recompute in loops, the last one all that can be.
  LogicalResult addLoopForms(MutableArrayRef<OwningOpRef<ModuleOp>> local, SmallVectorImpl<Form>& forms) {
    constexpr unsigned kMostForms = 6;
    unsigned steps = 0;
    for (OwningOpRef<ModuleOp>& program : local) {
      FailureOr<unsigned> count = countLoopSteps(*program, getTopologyName(options, target->getDescription()));
      if (failed(count)) return failure();
      steps = std::max(steps, *count);
    }
    const unsigned added = std::min(steps, kMostForms);
    for (unsigned form = 1; form <= added; ++form) {
      programs.clear();
      for (OwningOpRef<ModuleOp>& clone : clonePrograms(local)) programs.push_back(std::move(clone));
      result.emitted = options.emit == EmitLevel::Kernels ? std::string() : forms.front().emitted;
      auto addSteps = [&](PassManager& passes) {
        addLoopRecomputationStage(passes, options, *target, steps * form / added);
      };
      if (failed(runStage(addSteps)) || failed(lowerToKernels()) || failed(lowerToBuffers())) return failure();
      forms.push_back({std::move(programs.front()), std::move(result.emitted)});
    }
    return success();
  }

  func::FuncOp getReported() {
    SmallVector<ModuleOp> modules;
    for (OwningOpRef<ModuleOp>& program : programs) modules.push_back(*program);
    return getReportedFunction(modules);
  }

  void warnOfRepeated() {
    if (options.isForSimulation) return;
    for (auto [program, source] : llvm::zip(programs, sources)) {
      func::FuncOp reported = getReported();
      if (!reported || reported->getParentOfType<ModuleOp>() != *program) continue;
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
    auto loaded = loader.load(getTopologyName(options, target->getDescription()), isCutByRecipe);
    if (failed(loaded)) return failure();
    programs = std::move(*loaded);
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
    return checkCompressed(programs, *recipe);
  }

  LogicalResult runStage(llvm::function_ref<void(PassManager&)> add) {
    for (size_t i = 0; i < programs.size(); ++i) {
      printer.setFileName(programs.size() == sources.size() ? sources[i].fileName : sources.front().fileName);
      PassManager passes(&context);
      // Once per stage instead of after each pass: 13 % of the time of a model of 30,000 lines.
      passes.enableVerifier(false);
      if (timings) passes.addInstrumentation(createPassTimer(timings));
      add(passes);
      if (failed(passes.run(*programs[i]))) return failure();
      Timings::Scope scope(timings, "verify");
      if (failed(verify(*programs[i]))) return failure();
    }
    return success();
  }

  void emit(EmitLevel level) {
    if (options.emit != level) return;
    Timings::Scope scope(timings, "print");
    llvm::raw_string_ostream stream(result.emitted);
    for (OwningOpRef<ModuleOp>& program : programs) {
      program->print(stream);
      stream << "\n";
    }
  }

  bool isDone(EmitLevel level) const { return !options.writeArtifact && options.emit == level; }

  LogicalResult finish() {
    ModuleOp plan = *programs.front();
    Timings::Scope scope(timings, "export");
    ::sgd::artifact::ArtifactWriter writer;
    writer.artifact().compiler_version = "sgdc " SGD_VERSION;
    writer.artifact().target = target->getName().str();
    if (failed(exportPlan(plan, writer))) return failure();
    llvm::Expected<Topology> topology = loadTopology(getTopologyName(options, target->getDescription()));
    if (!topology) return emitError(UnknownLoc::get(&context)) << llvm::toString(topology.takeError());
    result.report = computeReport(plan, writer.constant_bytes(), *topology, std::move(bound));
    if (!options.isForSimulation) result.explanation = computeExplanation(plan, *topology);
    if (failed(checkMemory(plan))) return failure();
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

  ArrayRef<ProgramSource> sources;
  CompileOptions options;  // with what the recipe adds
  Timings* timings;
  KnownPrograms* known;
  MLIRContext& context;
  DiagnosticPrinter printer;
  std::unique_ptr<Target> target;
  std::vector<OwningOpRef<ModuleOp>> programs;
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
