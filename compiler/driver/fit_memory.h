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
  uint64_t peak = 0;   ///< bytes of a rank, as reported
  double seconds = 0;  ///< estimate of a step
};

/// Plans the memory of `bufferized`, a module behind addBufferStage, within `options.memoryLimit`: as without a limit
/// where that fits; else with fewer collectives in flight; else with as little recomputation as the search finds. When
/// nothing fits, the plan whose peak is the smallest limit that this function would meet. Fails with an error when the
/// module cannot be planned at all.
FailureOr<MemoryPlan> planWithinLimit(ModuleOp bufferized, const CompileOptions& options, const Target& target,
                                      Timings* timings);

}  // namespace mlir::sgd

#endif
