// The stages of pipelines.h, one after the other; with a memory limit several times.
#include "compiler/driver/lowering.h"

#include "compiler/bound/lower_bound.h"
#include "compiler/driver/pipelines.h"
#include "dialects/sgd/decision.h"
#include "mlir/IR/Verifier.h"
#include "passes/remat/passes.h"

using namespace mlir;
using namespace mlir::sgd;

Lowering Lowering::clone() const {
  Lowering copy({context.options, context.target, context.programs, context.printer, /*timings=*/nullptr},
                getCompilation().clone());
  copy.emitted = emitted;
  return copy;
}

namespace {

/// Names the file of the program that a pass runs on.
class ProgramNamer : public PassInstrumentation {
 public:
  ProgramNamer(ArrayRef<RequestedProgram> programs, DiagnosticPrinter& printer)
      : programs(programs), printer(printer) {}

  void runBeforePass(Pass*, Operation* op) final {
    size_t index = getIndex(op);
    printer.setFileName(index < programs.size() ? StringRef(programs[index].file) : StringRef());
  }

 private:
  /// The position of the module inside of the compilation that has `op`; 0 for the compilation itself.
  static size_t getIndex(Operation* op) {
    while (op->getParentOp() && op->getParentOp()->getParentOp()) op = op->getParentOp();
    if (!op->getParentOp()) return 0;
    return llvm::count_if(llvm::make_range(op->getBlock()->begin(), op->getIterator()),
                          [](Operation& before) { return isa<ModuleOp>(before); });
  }

  ArrayRef<RequestedProgram> programs;
  DiagnosticPrinter& printer;
};

}  // namespace

LogicalResult Lowering::runStage(llvm::function_ref<void(OpPassManager&)> add) {
  PassManager passes(getCompilation()->getName());
  // Once per stage instead of after each pass: 13 % of the time of a model of 30,000 lines.
  passes.enableVerifier(false);
  passes.addInstrumentation(std::make_unique<ProgramNamer>(context.programs, context.printer));
  if (context.timings) passes.addInstrumentation(createPassTimer(context.timings));
  add(passes);
  if (failed(passes.run(getCompilation()))) return failure();
  Timings::Scope scope(context.timings, "verify");
  return verify(getCompilation());
}

/// The programs as users know them: without what only the compilation has.
static std::string printPrograms(ModuleOp compilation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  DictionaryAttr attributes = compilation->getDiscardableAttrDictionary();
  for (StringRef name : {kRequestAttr, kLowerBoundAttr}) compilation->removeAttr(name);
  for (ModuleOp program : getPrograms(compilation)) {
    program.print(stream);
    stream << "\n";
  }
  compilation->setDiscardableAttrs(attributes);
  return text;
}

static std::string printRequest(ModuleOp compilation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation.print(stream, OpPrintingFlags().enableDebugInfo());
  stream << "\n";
  return text;
}

void Lowering::emit(std::optional<EmitLevel> level) {
  if (context.options.emit != level) return;
  Timings::Scope scope(context.timings, "print");
  if (level) emitted.programs = printPrograms(getCompilation());
  if (context.options.emitsRequest) emitted.request = printRequest(getCompilation());
}

LogicalResult Lowering::formStages() {
  return runStage([&](OpPassManager& passes) { addSpmdStage(passes, context.options); });
}

LogicalResult Lowering::hideCommunication() {
  if (context.options.memoryLimit) local = getCompilation().clone();
  if (failed(runStage([&](OpPassManager& passes) { addHidingStage(passes, context.options); }))) return failure();
  emit(EmitLevel::Spmd);
  return success();
}

LogicalResult Lowering::lowerToKernels() {
  FailureOr<Request> request = Request::read(getCompilation());
  if (failed(request)) return failure();
  const bool packsWeights = !request->hasPlainWeights;
  auto add = [&](OpPassManager& passes) { addKernelStage(passes, context.options, context.target, packsWeights); };
  if (failed(runStage(add))) return failure();
  emit(EmitLevel::Kernels);
  return success();
}

LogicalResult Lowering::lowerToBuffers() {
  KernelModel model = context.target.getKernelModel(context.timings);
  return runStage([&](OpPassManager& passes) { addBufferStage(passes, context.target, model); });
}

/// One way to lower the programs, with buffers.
struct Lowering::Form {
  OwningOpRef<ModuleOp> module;
  EmittedText emitted;
};

/// Whether the program holds more than it must, to be faster.
static bool hidesMore(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return llvm::any_of(getDecisions(function), [](const Decision& decision) {
      return decision.kind == DecisionKind::Hoist || decision.kind == DecisionKind::Prefetch ||
             decision.kind == DecisionKind::Ring || decision.kind == DecisionKind::Pack;
    });
  });
}

/// Replaces the compilation by what comes of `local` after the passes that `change` adds.
LogicalResult Lowering::lowerAgain(llvm::function_ref<void(OpPassManager&)> change) {
  compilation = local->clone();
  if (failed(runStage(change))) return failure();
  emit(EmitLevel::Spmd);
  return failure(failed(lowerToKernels()) || failed(lowerToBuffers()));
}

LogicalResult Lowering::planMemory() { return context.options.memoryLimit ? planWithinLimit() : planMemoryAsIs(); }

LogicalResult Lowering::planMemoryAsIs() {
  return runStage([&](OpPassManager& passes) { addMemoryStage(passes, context.options, context.target); });
}

FailureOr<FormPlan> Lowering::plan(ArrayRef<ModuleOp> forms, Effort effort) const {
  return planForms(forms, context.options, context.target, effort, context.timings);
}

bool Lowering::fits(const MemoryPlan& plan) const { return plan.isGiven && plan.peak <= *context.options.memoryLimit; }

LogicalResult Lowering::planWithinLimit() {
  const uint64_t limit = *context.options.memoryLimit;
  if (local && hidesMore(getCompilation())) {
    OwningOpRef<ModuleOp> ahead = getCompilation().clone();
    FailureOr<FormPlan> made = plan(ModuleOp(*ahead), Effort::Given);
    if (failed(made) || (!fits(made->plan) && failed(lowerAgain(addPlainStage)))) return failure();
  }
  SmallVector<Form, 0> forms;  // as given, and with ever more of loops recomputed
  forms.push_back({std::move(compilation), std::move(emitted)});
  FailureOr<FormPlan> best = plan(ModuleOp(*forms.front().module));
  if (failed(best) || (local && !fits(best->plan) && failed(addLoopForms(forms)))) return failure();
  SmallVector<ModuleOp> modules;
  for (const Form& form : forms) modules.push_back(*form.module);
  if (modules.size() > 1) {
    FailureOr<FormPlan> other = plan(ArrayRef(modules).drop_front());
    if (failed(other)) return failure();
    if (other->plan.isBetterThan(best->plan, limit)) best = FormPlan{std::move(other->plan), other->form + 1};
  }
  if (best->plan.peak > limit) best = planSmallest(modules, context.options, context.target, context.timings);
  if (failed(best)) return failure();
  emitted = forms[best->form].emitted;
  compilation = std::move(best->plan.module);
  Timings::Scope scope(context.timings, "verify");
  return verify(getCompilation());
}

/// A few of the ways to recompute in loops, the last one all that can be.
LogicalResult Lowering::addLoopForms(SmallVectorImpl<Form>& forms) {
  const PlanOptions& options = context.options;
  constexpr unsigned kMostForms = 6;
  unsigned steps = 0;
  for (ModuleOp program : sgd::getPrograms(*local)) {
    FailureOr<unsigned> count = countLoopSteps(program, options.topology);
    if (failed(count)) return failure();
    steps = std::max(steps, *count);
  }
  const unsigned added = std::min(steps, kMostForms);
  for (unsigned form = 1; form <= added; ++form) {
    emitted = forms.front().emitted;
    auto addSteps = [&](OpPassManager& passes) { addLoopRecomputationStage(passes, options, steps * form / added); };
    if (failed(lowerAgain(addSteps))) return failure();
    forms.push_back({std::move(compilation), std::move(emitted)});
  }
  return success();
}
