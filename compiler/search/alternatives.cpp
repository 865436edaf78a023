// Swaps contents: bodies are moved between regions, and ops keep their identity.
#include "compiler/search/alternatives.h"

#include "compiler/pipelines/pipelines.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::sgd;

bool PlanCost::isBetterThan(const PlanCost& other, std::optional<uint64_t> limit, double part) const {
  if (fits(limit) != other.fits(limit)) return fits(limit);
  return fits(limit) ? seconds < part * other.seconds : peak < other.peak;
}

HeldDiagnostics::HeldDiagnostics(MLIRContext* context, llvm::function_ref<void()> run) {
  ScopedDiagnosticHandler handler(context, [this](Diagnostic& diagnostic) {
    diagnostics.push_back(std::move(diagnostic));
    return success();
  });
  run();
}

void HeldDiagnostics::emit(MLIRContext* context) {
  for (Diagnostic& diagnostic : diagnostics) context->getDiagEngine().emit(std::move(diagnostic));
  diagnostics.clear();
}

static void swapContents(ModuleOp one, ModuleOp other) {
  Region body;
  body.takeBody(one.getBodyRegion());
  one.getBodyRegion().takeBody(other.getBodyRegion());
  other.getBodyRegion().takeBody(body);
  DictionaryAttr attributes = one->getDiscardableAttrDictionary();
  one->setDiscardableAttrs(other->getDiscardableAttrDictionary());
  other->setDiscardableAttrs(attributes);
}

/// Which passes there are depends on options, which dialects they need does not depend on the target.
void mlir::sgd::addDialectsOfStages(DialectRegistry& registry) {
  PlanOptions options;
  options.sequential = MeshAxisSize();
  llvm::cantFail(parseEmit("stablehlo", options));
  options.exchangesInLoops = true;
  llvm::Expected<std::unique_ptr<Target>> target = Target::create(options);
  if (!target) return llvm::consumeError(target.takeError());  // the one that is asked for is an error then, too
  OpPassManager passes(ModuleOp::getOperationName());
  addLocalizeStage(passes, options);
  addSpmdStage(passes, options);
  addHidingStage(passes, options);
  addLoopRecomputationStage(passes, options, /*steps=*/1);
  addKernelStage(passes, options, **target, /*packsWeights=*/true);
  addBufferStage(passes, **target, KernelModel());
  addMemoryStage(passes, options, **target, /*budget=*/0);
  passes.getDependentDialects(registry);
}

FailureOr<Alternatives> Alternatives::create(ModuleOp compilation, StringRef text, Runner run) {
  FailureOr<Requested> requested = Requested::read(compilation);
  if (failed(requested)) return failure();
  if (!text.empty()) {
    llvm::Error unknown = parseEmit(text, requested->options);
    if (unknown) return LogicalResult(emitError(compilation.getLoc()) << llvm::toString(std::move(unknown)));
  }
  llvm::Expected<std::unique_ptr<Target>> target = Target::create(requested->options);
  if (!target) return LogicalResult(emitError(compilation.getLoc()) << llvm::toString(target.takeError()));
  return Alternatives(compilation, std::move(*requested), std::move(*target), std::move(run));
}

OwningOpRef<ModuleOp> Alternatives::take() const {
  OwningOpRef<ModuleOp> taken = ModuleOp::create(compilation->getLoc());
  swapContents(compilation, *taken);
  return taken;
}

void Alternatives::choose(OwningOpRef<ModuleOp> best) const { swapContents(compilation, *best); }

LogicalResult Alternatives::run(ModuleOp alternative, llvm::function_ref<void(OpPassManager&)> add) const {
  OpPassManager passes(ModuleOp::getOperationName());
  add(passes);
  swapContents(compilation, alternative);
  LogicalResult result = runPipeline(passes);
  swapContents(compilation, alternative);
  return result;
}

LogicalResult Alternatives::runStage(ModuleOp alternative, llvm::function_ref<void(OpPassManager&)> add) const {
  return failure(failed(run(alternative, add)) || failed(verify(alternative)));
}

LogicalResult Alternatives::lowerToBuffers(ModuleOp alternative, bool packsWeights) const {
  auto addKernels = [&](OpPassManager& passes) { addKernelStage(passes, getOptions(), *target, packsWeights); };
  auto addBuffers = [&](OpPassManager& passes) {
    addBufferStage(passes, *target, target->getKernelModel(/*timings=*/nullptr));
  };
  return failure(failed(runStage(alternative, addKernels)) || failed(runStage(alternative, addBuffers)));
}

LogicalResult Alternatives::hideAndLower(ModuleOp alternative) const {
  auto addHiding = [&](OpPassManager& passes) { addHidingStage(passes, getOptions()); };
  return failure(failed(runStage(alternative, addHiding)) ||
                 failed(lowerToBuffers(alternative, /*packsWeights=*/true)));
}

LogicalResult Alternatives::planMemory(ModuleOp alternative) const {
  return runStage(alternative, [&](OpPassManager& passes) { addMemoryStage(passes, getOptions(), *target); });
}
