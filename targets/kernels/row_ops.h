// Ops that go through whole rows in order instead of computing elements at places: sorts, and the choice of the largest
// elements. A cluster with one holds nothing else.
#ifndef SGD_TARGETS_KERNELS_ROW_OPS_H
#define SGD_TARGETS_KERNELS_ROW_OPS_H

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"

namespace mlir::sgd::kernels {

/// The op of a cluster that is such a kernel, or null.
Operation* getRowOp(fusion::ClusterOp cluster);

/// Size of the last dimension of the op's operands, and the product of the others.
int64_t rowLength(Operation* rowOp);
int64_t numRows(Operation* rowOp);

}  // namespace mlir::sgd::kernels

#endif
