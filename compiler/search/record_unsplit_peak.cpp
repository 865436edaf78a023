// The pass sgd-record-unsplit-peak: all stages behind sharding, without the sequential axis and without messages.
#include "compiler/pipelines/pipelines.h"
#include "compiler/report/report.h"
#include "compiler/report/unsplit_peak.h"
#include "compiler/search/alternatives.h"
#include "compiler/search/passes.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/sequential.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_RECORDUNSPLITPEAKPASS
#include "compiler/search/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// The peak of `compilation` without its sequential axis.
static FailureOr<uint64_t> planUnsplit(const Alternatives& alternatives, ModuleOp compilation) {
  PlanOptions whole = alternatives.getOptions();
  whole.sequential.reset();
  for (ModuleOp program : getPrograms(compilation))
    if (MeshOp mesh = getMesh(program)) mesh->removeAttr(kSequentialAttr);
  auto addLocal = [&](OpPassManager& passes) {
    addLocalizeStage(passes, whole);
    addSpmdStage(passes, whole);
  };
  if (failed(alternatives.runStage(compilation, addLocal)) || failed(alternatives.hideAndLower(compilation)) ||
      failed(alternatives.planMemory(compilation)))
    return failure();
  llvm::Expected<Topology> topology = loadTopology(whole.topology);
  if (!topology) return LogicalResult(emitError(compilation.getLoc()) << llvm::toString(topology.takeError()));
  return computeReport(compilation, /*constantBytes=*/0, StepTimes(), *topology, LowerBound()).memory.peak;
}

namespace {
struct RecordUnsplitPeakPass : mlir::sgd::impl::RecordUnsplitPeakPassBase<RecordUnsplitPeakPass> {
  using RecordUnsplitPeakPassBase::RecordUnsplitPeakPassBase;

  void getDependentDialects(DialectRegistry& registry) const override { addDialectsOfStages(registry); }

  void runOnOperation() override {
    auto run = [this](OpPassManager& passes) { return runPipeline(passes, getOperation()); };
    FailureOr<Alternatives> alternatives = Alternatives::create(getOperation(), /*text=*/"", run);
    if (failed(alternatives)) return signalPassFailure();
    OwningOpRef<ModuleOp> unsplit = getOperation().clone();
    FailureOr<uint64_t> peak = failure();
    HeldDiagnostics dropped(&getContext(), [&] { peak = planUnsplit(*alternatives, *unsplit); });
    if (failed(peak)) return;
    Builder builder(&getContext());
    getOperation()->setDiscardableAttr(kUnsplitPeakAttr, builder.getI64IntegerAttr(static_cast<int64_t>(*peak)));
  }
};
}  // namespace
