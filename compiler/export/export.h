// From a plan-level module with offsets to the object form of the artifact.
#ifndef SGD_COMPILER_EXPORT_H
#define SGD_COMPILER_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/topology.h"
#include "runtime/artifact/writer.h"

namespace mlir::sgd {

/// Fills `writer` with mesh, kernels (names only), programs and constants of `plan`; the compiled kernels and what they
/// need of a CPU are the caller's. Fails with an error on what the artifact cannot say.
LogicalResult exportPlan(ModuleOp plan, ::sgd::artifact::ArtifactWriter& writer);

/// Writes the performance of `topology`'s device, for tools that judge programs by it.
void exportDevice(const Topology& topology, ::sgd::artifact::ArtifactT& artifact);

}  // namespace mlir::sgd

#endif
