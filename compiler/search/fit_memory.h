// A memory limit as a goal: the fastest plan that keeps it.
#ifndef SGD_COMPILER_SEARCH_FIT_MEMORY_H
#define SGD_COMPILER_SEARCH_FIT_MEMORY_H

#include "compiler/search/alternatives.h"

namespace mlir::sgd {

/// A module with all offsets, and its cost.
struct MemoryPlan : PlanCost {
  OwningOpRef<ModuleOp> module;
  bool isGiven = true;  ///< nothing runs again, or is on the host
};

/// Exports `plan` and returns the bytes that a rank needs, constants included.
FailureOr<uint64_t> exportForPeak(ModuleOp plan, ::sgd::artifact::ArtifactWriter& writer);

/// How far to look for a plan.
enum class Effort {
  Given,     ///< as Limit, but does not search when no plan fits without running anything again
  Limit,     ///< until one fits; what comes out may not
  Smallest,  ///< around the smallest peak that can be had, whatever the limit is
};

/// Plans the memory of `bufferized`, a module behind addBufferStage, within `options.memoryLimit`, which need not be
/// that of `alternatives`: as without a limit where that fits; else with fewer collectives in flight, or as little
/// recomputation, and waiting for copies to the host, as the search finds. When nothing fits, the plan with the
/// smallest peak, which with Effort::Smallest does not depend on the limit: it is a limit that can be met. Fails with
/// an error when the module cannot be planned at all.
FailureOr<MemoryPlan> planWithinLimit(ModuleOp bufferized, const PlanOptions& options, const Alternatives& alternatives,
                                      Effort effort);

/// The best plan of all `forms`, ways to lower one compilation.
FailureOr<MemoryPlan> planForms(ArrayRef<ModuleOp> forms, const PlanOptions& options, const Alternatives& alternatives,
                                Effort effort);

/// The plan with the smallest peak that any search finds: that with Effort::Smallest, then those for limits below each
/// peak found, until one is not met. Ends early at a plan that keeps `options.memoryLimit`. Where none does, the peak
/// does not depend on the limit, a compilation with the peak as its limit meets it, and one with a byte less does not.
FailureOr<MemoryPlan> planSmallest(ArrayRef<ModuleOp> forms, const PlanOptions& options,
                                   const Alternatives& alternatives);

}  // namespace mlir::sgd

#endif
