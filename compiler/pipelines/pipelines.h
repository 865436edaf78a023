// Which passes run in which order, stage by stage. All run on the module of a compilation, whose programs are modules
// inside of it until addBufferStage joins them. A stage that ends a level notes the programs' text if PlanOptions::emit
// asks for that level (sgd-record-text).
#ifndef SGD_COMPILER_PIPELINES_H
#define SGD_COMPILER_PIPELINES_H

#include "compiler/recipe/plan_options.h"
#include "compiler/target/target.h"
#include "mlir/Pass/PassManager.h"
#include "passes/plan/lowering/passes.h"

namespace mlir::sgd {

/// Behind the import of texts: one mesh, summands at the borders, what steps carry, manual computations as part of the
/// graph, losses.
void addReadStage(OpPassManager& passes, const PlanOptions& options);

/// Graph level to graph level: the mesh and the annotations of the recipe and of flags.
void addRecipeStage(OpPassManager& passes, const PlanOptions& options);

/// Graph level to graph level: a sharding in every type, reshards explicit.
void addShardingStage(OpPassManager& passes, const PlanOptions& options);

/// To the program of one rank, and of one coordinate of a sequential axis: reductions placed, local shapes.
void addLocalizeStage(OpPassManager& passes, const PlanOptions& options);

/// From there to the SPMD level: stages and loops, collectives combined and verified. Under a memory limit the level
/// ends here, where the search for a plan begins (compiler/search), else behind addHidingStage.
void addSpmdStage(OpPassManager& passes, const PlanOptions& options);

/// SPMD level to SPMD level: stages of a pipeline that were written by hand, simplified and verified as those that
/// addSpmdStage makes. It ends where addSpmdStage does.
void addLocalStage(OpPassManager& passes, const PlanOptions& options);

/// SPMD level to SPMD level: matmuls of loops over time are computed outside of them; gathers of loops start an
/// iteration ahead, and matmuls become rings, where that hides what links take.
void addHidingStage(OpPassManager& passes, const PlanOptions& options);

/// SPMD level to SPMD level, instead of addHidingStage: nothing changes.
void addPlainStage(OpPassManager& passes, const PlanOptions& options);

/// Likewise, but loops compute again what earlier loops stacked for them, in `steps` steps.
void addLoopRecomputationStage(OpPassManager& passes, const PlanOptions& options, uint64_t steps);

/// To kernels: contractions, clusters, the order of execution. Passes ask `target`, which outlives them, here and
/// below. `packsWeights`: weights of loops are held a second time, as matmuls read them fastest.
void addKernelStage(OpPassManager& passes, const PlanOptions& options, const Target& target, bool packsWeights);

/// To the plan, in one module: instructions, and a buffer for every value.
void addBufferStage(OpPassManager& passes, const Target& target, KernelModel model);

/// To the memory of a rank: updates in place, collectives split, offsets. With a budget, some instructions run again so
/// that no more bytes than that are alive, and `offload` says what may be on the host meanwhile (sgd-recompute).
void addMemoryStage(OpPassManager& passes, const PlanOptions& options, const Target& target,
                    std::optional<uint64_t> budget = std::nullopt, StringRef offload = "never");

}  // namespace mlir::sgd

#endif
