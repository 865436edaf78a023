// A memory limit as a goal: the fastest plan that keeps it.
#ifndef SGD_COMPILER_FIT_MEMORY_H
#define SGD_COMPILER_FIT_MEMORY_H

#include "compiler/recipe/plan_options.h"
#include "compiler/target/target.h"
#include "compiler/timings.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// A module with all offsets.
struct MemoryPlan {
  OwningOpRef<ModuleOp> module;
  uint64_t peak = 0;    ///< bytes of a rank, as reported
  double seconds = 0;   ///< estimate of a step
  bool isGiven = true;  ///< nothing runs again, or is on the host

  /// Whether this one is to be taken rather than `other`: it fits, or needs less, or is faster.
  bool isBetterThan(const MemoryPlan& other, uint64_t limit) const;
};

/// How far to look for a plan.
enum class Effort {
  Given,     ///< as Limit, but does not search when no plan fits without running anything again
  Limit,     ///< until one fits; what comes out may not
  Smallest,  ///< around the smallest peak that can be had, whatever the limit is
};

/// Plans the memory of `bufferized`, a module behind addBufferStage, within `options.memoryLimit`: as without a limit
/// where that fits; else with fewer collectives in flight, or as little recomputation, and waiting for copies to the
/// host, as the search finds. When nothing fits, the plan with the smallest peak, which with Effort::Smallest does not
/// depend on the limit: it is a limit that can be met. Fails with an error when the module cannot be planned at all.
FailureOr<MemoryPlan> planWithinLimit(ModuleOp bufferized, const PlanOptions& options, const Target& target,
                                      Effort effort, Timings* timings);

/// The plan of one of several ways to lower a program.
struct FormPlan {
  MemoryPlan plan;
  size_t form = 0;  ///< its number
};

/// The best plan of all `forms`.
FailureOr<FormPlan> planForms(ArrayRef<ModuleOp> forms, const PlanOptions& options, const Target& target, Effort effort,
                              Timings* timings);

/// The plan with the smallest peak that any search finds: that with Effort::Smallest, then those for limits below each
/// peak found, until one is not met. Ends early at a plan that keeps `options.memoryLimit`. Where none does, the peak
/// does not depend on the limit, a compilation with the peak as its limit meets it, and one with a byte less does not.
FailureOr<FormPlan> planSmallest(ArrayRef<ModuleOp> forms, const PlanOptions& options, const Target& target,
                                 Timings* timings);

}  // namespace mlir::sgd

#endif
