// From a plan-level module with offsets to the object form of the artifact.
#ifndef SGD_COMPILER_EXPORT_H
#define SGD_COMPILER_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/topology.h"
#include "runtime/artifact/writer.h"

namespace mlir::sgd {

/// By program of an artifact and index of an instruction: the op that it comes from, of a group of launches the first.
using ExportedOps = std::vector<std::vector<Operation*>>;

/// Fills `writer` with mesh, kernels (names only), programs and constants of `plan`; the compiled kernels and what they
/// need of a CPU are the caller's. Where `ops` are wanted, notes where instructions come from. Fails with an error on
/// what the artifact cannot say.
LogicalResult exportPlan(ModuleOp plan, ::sgd::artifact::ArtifactWriter& writer, ExportedOps* ops = nullptr);

/// Writes the performance of `topology`'s device, for tools that judge programs by it.
void exportDevice(const Topology& topology, ::sgd::artifact::ArtifactT& artifact);

}  // namespace mlir::sgd

#endif
