// Collectives as the artifact has them.
#ifndef SGD_COMPILER_EXPORT_COLLECTIVE_H
#define SGD_COMPILER_EXPORT_COLLECTIVE_H

#include "compiler/export/export_program.h"
#include "compiler/export/export_slices.h"

namespace mlir::sgd {

/// The instruction of `collective`; an error on it for what artifacts do not have.
FailureOr<artifact::CollectiveT> exportCollective(plan::CollectiveOp collective, SliceExporter& slices, MeshAttr mesh);

}  // namespace mlir::sgd

#endif
