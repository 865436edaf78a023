// Which ranks a collective joins: mesh axes as lists of ranks, for an evaluator that holds all ranks at once.
#ifndef SGD_REFERENCE_GROUPS_H
#define SGD_REFERENCE_GROUPS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd::reference {

/// The linear index of `rank` over `axes` of `mesh`, the first axis slowest.
int64_t getLinearIndex(MeshAttr mesh, ArrayRef<AxisRefAttr> axes, int64_t rank);

/// The ranks that differ from `rank` only on `axes`, itself among them, ordered by their linear index over `axes`.
SmallVector<int64_t> getGroup(MeshAttr mesh, ArrayRef<AxisRefAttr> axes, int64_t rank);

}  // namespace mlir::sgd::reference

#endif
