// The pass sgd-check-memory-limit.
#include "compiler/recipe/requested.h"
#include "compiler/report/largest_buffers.h"
#include "compiler/report/report.h"
#include "compiler/search/fit_memory.h"
#include "compiler/search/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_CHECKMEMORYLIMITPASS
#include "compiler/search/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static LogicalResult checkLimit(ModuleOp plan, const PlanOptions& options) {
  if (!options.memoryLimit) return success();
  ::sgd::artifact::ArtifactWriter writer;
  FailureOr<uint64_t> peak = exportForPeak(plan, writer);
  if (failed(peak)) return failure();
  if (*peak <= *options.memoryLimit) return success();
  return emitError(UnknownLoc::get(plan.getContext()))
         << "needs " << *peak << " bytes in each rank, even with recomputation; "
         << (options.isLimitedByRecipe ? "the recipe's memory_limit" : "--memory-limit") << " allows "
         << *options.memoryLimit << "; the smallest feasible limit is " << *peak
         << "; the largest buffers: " << describeLargestBuffers(getReportedFunction(plan));
}

namespace {
struct CheckMemoryLimitPass : mlir::sgd::impl::CheckMemoryLimitPassBase<CheckMemoryLimitPass> {
  using CheckMemoryLimitPassBase::CheckMemoryLimitPassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested) || failed(checkLimit(getOperation(), requested->options))) signalPassFailure();
  }
};
}  // namespace
