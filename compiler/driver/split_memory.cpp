// All stages behind sharding, without the sequential axis and without messages.
#include "compiler/driver/split_memory.h"

#include "compiler/driver/pipelines.h"
#include "compiler/report/report.h"
#include "dialects/sgd/sequential.h"

using namespace mlir;
using namespace mlir::sgd;

static LogicalResult planUnsplit(Lowering& lowering, const PlanOptions& options) {
  for (ModuleOp module : lowering.getPrograms())
    if (MeshOp mesh = getMesh(module)) mesh->removeAttr(kSequentialAttr);
  PlanOptions whole = options;
  whole.sequential.reset();
  auto localize = [&](OpPassManager& passes) { addLocalizeStage(passes, whole); };
  return failure(failed(lowering.runStage(localize)) || failed(lowering.formStages()) ||
                 failed(lowering.hideCommunication()) || failed(lowering.lowerToKernels()) ||
                 failed(lowering.lowerToBuffers()) || failed(lowering.planMemoryAsIs()));
}

void mlir::sgd::warnOfLargerSplit(Lowering unsplit, const SplitPlan& split, const LoweringContext& context) {
  const PlanOptions& options = context.options;
  LogicalResult planned = failure();
  context.printer.hold([&] { planned = planUnsplit(unsplit, options); });
  llvm::Expected<Topology> topology = loadTopology(options.topology);
  if (!topology) return llvm::consumeError(topology.takeError());  // said by the plan of the batch in parts
  if (failed(planned)) return;
  ModuleOp module = unsplit.getCompilation();
  uint64_t whole = computeReport(module, /*constantBytes=*/0, StepTimes(), *topology, LowerBound()).memory.peak +
                   split.constantBytes;
  if (whole >= split.peak) return;
  StringRef source = split.isOfFlag ? "--micro" : "field 'sequential'";
  emitWarning(UnknownLoc::get(module.getContext()))
      << source << ": " << options.sequential->size << " micro-batches need " << split.peak
      << " bytes in each rank, the whole batch needs " << whole
      << "; accumulated gradients, or what loops over micro-batches store for each other, outweigh smaller "
         "activations; compile without "
      << source << ", or with --memory-limit";
}
