// Runs the stages of a compilation over all programs and collects what they produce.
#include "compiler/driver/driver.h"

#include <chrono>
#include <map>

#include "compiler/bound/lower_bound.h"
#include "compiler/driver/context_pool.h"
#include "compiler/driver/create_request.h"
#include "compiler/driver/diagnostics.h"
#include "compiler/driver/load_programs.h"
#include "compiler/driver/lowering.h"
#include "compiler/driver/programs.h"
#include "compiler/driver/run_stage.h"
#include "compiler/driver/split_memory.h"
#include "compiler/expectations/check_expectations.h"
#include "compiler/export/export.h"
#include "compiler/export/kernel_table.h"
#include "compiler/pipelines/pipelines.h"
#include "compiler/recipe/passes.h"
#include "compiler/report/advice.h"
#include "compiler/report/planned_step.h"
#include "compiler/report/program_reports.h"
#include "compiler/report/program_text.h"
#include "compiler/report/records.h"
#include "compiler/target/target.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/stages.h"
#include "frontends/text/mlir_text.h"
#include "runtime/json/json_text.h"
#include "runtime/page/records.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The options that programs are read with: whether layers' loops and summands are kept, the loss that is asked for,
/// and the field `train` of the recipe with its types.
using ReadOptions = std::tuple<bool, bool, std::string, std::string>;

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
    if (failed(runStage([&](OpPassManager& passes) { addReadStage(passes, getOptions()); }))) return failure();
    if (known) known->try_emplace(getReadOptions(), compilation->clone());
    return success();
  }

  /// From the level that programs have reached to what is asked for.
  LogicalResult lower(std::optional<EmitLevel> reached) {
    Lowering lowering(*compilation, requested, *target, timings, result.request);
    if (!reached) {
      lowering.recordRequest(std::nullopt);
      if (lowering.isDone(std::nullopt)) return success();
      if (failed(readPrograms())) return failure();
    }
    FailureOr<bool> isPlan = lowering.run(reached);
    return failure(failed(isPlan) || (*isPlan && failed(finish())));
  }

  const PlanOptions& getOptions() const { return requested.options; }
  ReadOptions getReadOptions() const {
    const std::optional<Recipe>& recipe = requested.recipe;
    const bool isByRecipe = getOptions().loss.empty() && recipe;
    return {getOptions().keepsLayerLoops, getOptions().keepUnreduced, isByRecipe ? recipe->loss : getOptions().loss,
            recipe && recipe->train ? recipe->train->text + recipe->precision.text : ""};
  }

  /// From the plan to what is asked for.
  LogicalResult finish() {
    ModuleOp plan = *compilation;
    Timings::Scope scope(timings, "export");
    ::sgd::artifact::ArtifactWriter writer;
    writer.artifact().compiler_version = "sgdc " SGD_VERSION;
    writer.artifact().target = target->getName().str();
    ExportedOps ops;
    if (failed(exportPlan(plan, writer, &ops))) return failure();
    llvm::Expected<Topology> topology = loadTopology(getOptions().topology);
    if (!topology) return emitError(UnknownLoc::get(&context)) << llvm::toString(topology.takeError());
    LowerBound bound = LowerBound::fromAttr(plan->getAttrOfType<DictionaryAttr>(kLowerBoundAttr));
    const bool isDescribed = !getOptions().omitsDescription;
    FailureOr<StepTimes> times = StepTimes();
    if (isDescribed) times = timeStep(plan, writer.artifact(), *topology);
    if (failed(times)) return failure();
    result.report = computeReport(plan, writer.constant_bytes(), *times, *topology, std::move(bound));
    if (isDescribed) describe(plan, writer.artifact(), *topology);
    if (failed(checkExpected(plan))) return failure();
    warnOfLargerSplit(plan, result.report.memory.peak, writer.constant_bytes(), getOptions());
    if (!getOptions().writeArtifact) return success();
    if (failed(declareKernels(plan, target->getKernelModel(timings), writer.artifact()))) return failure();
    if (getOptions().isForSimulation) return serialize(writer.SerializeWithoutCode());
    if (isDescribed && failed(addRecords(plan, writer.artifact(), ops, *topology))) return failure();
    if (failed(target->compileKernels(plan, writer, timings))) return failure();
    describeKernels(plan, *topology, writer.artifact());
    exportDevice(*topology, writer.artifact());
    return serialize(writer.Serialize());
  }

  void describe(ModuleOp plan, const ::sgd::artifact::ArtifactT& artifact, const Topology& topology) {
    describePrograms(plan, artifact, result.report);
    result.report.advice = findAdvice(plan, artifact, result.report, topology, getOptions().memoryLimit);
    result.explanation = computeExplanation(plan, topology, result.report.lowerBound);
  }

  LogicalResult addRecords(ModuleOp plan, ::sgd::artifact::ArtifactT& artifact, const ExportedOps& ops,
                           const Topology& topology) {
    Timings::Scope scope(timings, "records");
    result.report.target = getOptions().target;
    auto records = createRecords(plan, artifact, ops, topology, result.report, result.explanation);
    if (failed(records)) return failure();
    artifact.records = ::sgd::page::PackRecords(::sgd::json::WriteJson(*records));
    return success();
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

size_t countBytes(ArrayRef<ProgramSource> sources) {
  size_t bytes = 0;
  for (const ProgramSource& source : sources) bytes += source.text.size();
  return bytes;
}

/// The context of one compilation.
PooledContext takeContext(ArrayRef<ProgramSource> sources, Timings* timings) {
  Timings::Scope scope(timings, "load dialects");
  return PooledContext(countBytes(sources));
}

}  // namespace

FailureOr<Compilation> mlir::sgd::compile(ArrayRef<ProgramSource> sources, const CompileOptions& options,
                                          llvm::raw_ostream& errors, Timings* timings) {
  PooledContext context = takeContext(sources, timings);
  return Driver(context.get(), errors, timings, /*known=*/nullptr).compile(sources, options);
}

FailureOr<Compilation> mlir::sgd::replay(const ProgramSource& request, llvm::raw_ostream& errors, Timings* timings) {
  PooledContext context = takeContext(request, timings);
  return Driver(context.get(), errors, timings, /*known=*/nullptr).replay(request);
}

struct CompileSession::State {
  ArrayRef<ProgramSource> sources;
  std::unique_ptr<MLIRContext> context = createContext();
  KnownPrograms known;
};

CompileSession::CompileSession(ArrayRef<ProgramSource> sources) : state(std::make_unique<State>()) {
  state->sources = sources;
}

CompileSession::~CompileSession() = default;

FailureOr<Compilation> CompileSession::compile(const CompileOptions& options, llvm::raw_ostream& errors,
                                               Timings* timings) {
  return Driver(*state->context, errors, timings, &state->known).compile(state->sources, options);
}

LogicalResult CompileSession::visitPrograms(const CompileOptions& options, llvm::raw_ostream& errors,
                                            llvm::function_ref<LogicalResult(ModuleOp)> visit) {
  OwningOpRef<ModuleOp> programs;
  {
    Driver driver(*state->context, errors, /*timings=*/nullptr, &state->known);
    programs = driver.read(state->sources, options);
  }
  if (!programs) return failure();
  DiagnosticPrinter printer(state->context.get(), errors);
  printer.setFileName(state->sources.front().fileName);
  return visit(*programs);
}
