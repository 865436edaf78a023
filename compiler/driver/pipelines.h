// Which passes run in which order, stage by stage.
#ifndef SGD_COMPILER_PIPELINES_H
#define SGD_COMPILER_PIPELINES_H

#include "compiler/options.h"
#include "compiler/target/target.h"
#include "mlir/Pass/PassManager.h"
#include "passes/memory/passes.h"

namespace mlir::sgd {

/// The name that loadTopology is called with.
std::string getTopologyName(const CompileOptions& options, const TargetDescription& target);

/// Graph level to graph level: a sharding in every type, reshards explicit.
void addShardingStage(OpPassManager& passes, const CompileOptions& options);

/// To the SPMD level: reductions placed, local shapes, collectives combined and verified.
void addSpmdStage(OpPassManager& passes, const CompileOptions& options);

/// To kernels: contractions, clusters, the order of execution. Passes ask `target`, which outlives them, here and
/// below.
void addKernelStage(OpPassManager& passes, const CompileOptions& options, const Target& target);

/// To the plan: buffers, updates in place, collectives split, offsets.
void addPlanStage(OpPassManager& passes, const CompileOptions& options, const Target& target, KernelModel model);

}  // namespace mlir::sgd

#endif
