// A memory limit as a goal: the fastest plan that keeps it.
#ifndef SGD_COMPILER_FIT_MEMORY_H
#define SGD_COMPILER_FIT_MEMORY_H

#include "compiler/options.h"
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
  Limit,     ///< until one fits; what comes out may not
  Smallest,  ///< around the smallest peak that can be had, whatever the limit is
};

/// Plans the memory of `bufferized`, a module behind addBufferStage, within `options.memoryLimit`: as without a limit
/// where that fits; else with fewer collectives in flight, or as little recomputation, and waiting for copies to the
/// host, as the search finds. When nothing fits, the plan with the smallest peak, which with Effort::Smallest does not
/// depend on the limit: it is a limit that can be met. Fails with an error when the module cannot be planned at all.
FailureOr<MemoryPlan> planWithinLimit(ModuleOp bufferized, const CompileOptions& options, const Target& target,
                                      Effort effort, Timings* timings);

}  // namespace mlir::sgd

#endif
