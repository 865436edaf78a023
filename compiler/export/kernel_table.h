// The artifact's descriptions of its kernels, for people.
#ifndef SGD_COMPILER_KERNEL_TABLE_H
#define SGD_COMPILER_KERNEL_TABLE_H

#include "dialects/plan/plan_dialect.h"
#include "passes/cost/topology.h"
#include "passes/plan/lowering/passes.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// Gives the kernels of `artifact`, which are those of `plan`, what launches of them must pass, as `model`, the code
/// generator's, and the types of their clusters say: whatever launches there are.
LogicalResult declareKernels(ModuleOp plan, const KernelModel& model, ::sgd::artifact::ArtifactT& artifact);

/// Gives the kernels of `artifact`, which are those of `plan` and then combined ones, their ops, source lines, work and
/// estimated times.
void describeKernels(ModuleOp plan, const Topology& topology, ::sgd::artifact::ArtifactT& artifact);

}  // namespace mlir::sgd

#endif
