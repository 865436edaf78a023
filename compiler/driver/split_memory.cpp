// Compares the plan with what was noted of the whole batch.
#include "compiler/driver/split_memory.h"

#include "compiler/report/unsplit_peak.h"

using namespace mlir;
using namespace mlir::sgd;

void mlir::sgd::warnOfLargerSplit(ModuleOp plan, uint64_t peak, uint64_t constantBytes, const PlanOptions& options) {
  auto unsplit = plan->getAttrOfType<IntegerAttr>(kUnsplitPeakAttr);
  if (!unsplit) return;
  const uint64_t whole = static_cast<uint64_t>(unsplit.getInt()) + constantBytes;
  if (whole >= peak) return;
  StringRef source = options.isCutByRecipe ? "field 'sequential'" : "--micro";
  emitWarning(UnknownLoc::get(plan.getContext()))
      << source << ": " << options.sequential->size << " micro-batches need " << peak
      << " bytes in each rank, the whole batch needs " << whole
      << "; accumulated gradients, or what loops over micro-batches store for each other, outweigh smaller "
         "activations; compile without "
      << source << ", or with --memory-limit";
}
