// The stages of pipelines.h, one after the other; with a memory limit several times.
#include "compiler/driver/lowering.h"

#include "compiler/driver/pipelines.h"
#include "compiler/driver/programs.h"
#include "mlir/IR/Verifier.h"
#include "passes/hoist/hoisted_attr.h"
#include "passes/prefetch/prefetched_attr.h"
#include "passes/remat/passes.h"
#include "passes/rings/rings_attr.h"
#include "passes/schedule/packed_weights_attr.h"
#include "passes/stages/plan_program.h"

using namespace mlir;
using namespace mlir::sgd;

static Lowering::Programs clonePrograms(const Lowering::Programs& programs) {
  Lowering::Programs clones;
  for (const OwningOpRef<ModuleOp>& program : programs) clones.push_back(ModuleOp(*program).clone());
  return clones;
}

SmallVector<ModuleOp> Lowering::getModules() const {
  SmallVector<ModuleOp> modules;
  for (const OwningOpRef<ModuleOp>& program : programs) modules.push_back(*program);
  return modules;
}

Lowering Lowering::clone() const {
  Lowering copy({context.options, context.target, context.sources, context.printer, /*timings=*/nullptr},
                clonePrograms(programs));
  copy.emitted = emitted;
  return copy;
}

LogicalResult Lowering::runStage(llvm::function_ref<void(PassManager&)> add) {
  for (size_t i = 0; i < programs.size(); ++i) {
    bool hasOwnSource = programs.size() == context.sources.size();
    context.printer.setFileName(context.sources[hasOwnSource ? i : 0].fileName);
    PassManager passes(programs[i]->getContext());
    // Once per stage instead of after each pass: 13 % of the time of a model of 30,000 lines.
    passes.enableVerifier(false);
    if (context.timings) passes.addInstrumentation(createPassTimer(context.timings));
    add(passes);
    if (failed(passes.run(*programs[i]))) return failure();
    Timings::Scope scope(context.timings, "verify");
    if (failed(verify(*programs[i]))) return failure();
  }
  return success();
}

void Lowering::emit(EmitLevel level) {
  if (context.options.emit != level) return;
  Timings::Scope scope(context.timings, "print");
  llvm::raw_string_ostream stream(emitted);
  for (OwningOpRef<ModuleOp>& program : programs) {
    program->print(stream);
    stream << "\n";
  }
}

LogicalResult Lowering::formStages() {
  context.printer.setFileName(context.sources.front().fileName);
  if (failed(shareStages(getModules(), context.options.topology))) return failure();
  return runStage([&](PassManager& passes) { addSpmdStage(passes, context.options); });
}

LogicalResult Lowering::hideCommunication() {
  if (context.options.memoryLimit) local = clonePrograms(programs);
  if (failed(runStage([&](PassManager& passes) { addHidingStage(passes, context.options); }))) return failure();
  emit(EmitLevel::Spmd);
  return success();
}

LogicalResult Lowering::lowerToKernels(bool packsWeights) {
  auto add = [&](PassManager& passes) { addKernelStage(passes, context.options, context.target, packsWeights); };
  if (failed(runStage(add))) return failure();
  emit(EmitLevel::Kernels);
  return success();
}

LogicalResult Lowering::lowerToBuffers() {
  joinPrograms(programs);
  programs.resize(1);
  KernelModel model = context.target.getKernelModel(context.timings);
  return runStage([&](PassManager& passes) { addBufferStage(passes, context.target, model); });
}

/// One way to lower the programs, with buffers.
struct Lowering::Form {
  OwningOpRef<ModuleOp> module;
  std::string emitted;
};

/// Whether the program holds more than it must, to be faster.
static bool hidesMore(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return llvm::any_of(ArrayRef<StringRef>{kPrefetchedAttr, kRingsAttr, kHoistedAttr, kPackedWeightsAttr},
                        [&](StringRef attribute) { return function->hasAttr(attribute); });
  });
}

/// Replaces the programs by what comes of `local` after the passes that `change` adds.
LogicalResult Lowering::lowerAgain(llvm::function_ref<void(PassManager&)> change) {
  programs = clonePrograms(local);
  if (context.options.emit == EmitLevel::Kernels) emitted.clear();
  if (change && failed(runStage(change))) return failure();
  return failure(failed(lowerToKernels(/*packsWeights=*/false)) || failed(lowerToBuffers()));
}

LogicalResult Lowering::planMemory() { return context.options.memoryLimit ? planWithinLimit() : planMemoryAsIs(); }

LogicalResult Lowering::planMemoryAsIs() {
  return runStage([&](PassManager& passes) { addMemoryStage(passes, context.options, context.target); });
}

FailureOr<FormPlan> Lowering::plan(ArrayRef<ModuleOp> forms) const {
  return planForms(forms, context.options, context.target, Effort::Limit, context.timings);
}

bool Lowering::fits(const MemoryPlan& plan) const { return plan.isGiven && plan.peak <= *context.options.memoryLimit; }

LogicalResult Lowering::planWithinLimit() {
  const uint64_t limit = *context.options.memoryLimit;
  if (hidesMore(*programs.front())) {
    OwningOpRef<ModuleOp> ahead = programs.front()->clone();
    FailureOr<FormPlan> made = plan(ModuleOp(*ahead));
    if (failed(made) || (!fits(made->plan) && failed(lowerAgain(nullptr)))) return failure();
  }
  SmallVector<Form, 0> forms;  // as given, and with ever more of loops recomputed
  forms.push_back({std::move(programs.front()), std::move(emitted)});
  FailureOr<FormPlan> best = plan(ModuleOp(*forms.front().module));
  if (failed(best) || (!fits(best->plan) && failed(addLoopForms(forms)))) return failure();
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
  programs.clear();
  programs.push_back(std::move(best->plan.module));
  Timings::Scope scope(context.timings, "verify");
  return verify(*programs.front());
}

/// A few of the ways to recompute in loops, the last one all that can be.
LogicalResult Lowering::addLoopForms(SmallVectorImpl<Form>& forms) {
  const CompileOptions& options = context.options;
  constexpr unsigned kMostForms = 6;
  unsigned steps = 0;
  for (OwningOpRef<ModuleOp>& program : local) {
    FailureOr<unsigned> count = countLoopSteps(*program, options.topology);
    if (failed(count)) return failure();
    steps = std::max(steps, *count);
  }
  const unsigned added = std::min(steps, kMostForms);
  for (unsigned form = 1; form <= added; ++form) {
    emitted = forms.front().emitted;
    auto addSteps = [&](PassManager& passes) { addLoopRecomputationStage(passes, options, steps * form / added); };
    if (failed(lowerAgain(addSteps))) return failure();
    forms.push_back({std::move(programs.front()), std::move(emitted)});
  }
  return success();
}
