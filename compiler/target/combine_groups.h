// Launch groups of an artifact as combined kernels, where a GPU runs it.
#ifndef SGD_COMPILER_COMBINE_GROUPS_H
#define SGD_COMPILER_COMBINE_GROUPS_H

#include "runtime/artifact/program_generated.h"
#include "targets/gpu/codegen/codegen.h"

namespace mlir::sgd {

/// Says in the groups of `artifact`, whose kernels are those of `requests`, which launches a combined kernel does, and
/// adds these kernels to it. Equal groups share one.
gpu::Combinations combineGroups(::sgd::artifact::ArtifactT& artifact, ArrayRef<kernels::KernelRequest> requests);

}  // namespace mlir::sgd

#endif
