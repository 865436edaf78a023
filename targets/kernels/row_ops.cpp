// Shapes of sorts and choices.
#include "targets/kernels/row_ops.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

Operation* mlir::sgd::kernels::getRowOp(fusion::ClusterOp cluster) {
  Operation& first = cluster.getBody().front().front();
  return isa<fusion::SortRowsOp, TopKOp>(first) ? &first : nullptr;
}

int64_t mlir::sgd::kernels::rowLength(Operation* rowOp) { return tensorType(rowOp->getOperand(0)).getShape().back(); }

int64_t mlir::sgd::kernels::numRows(Operation* rowOp) {
  int64_t rows = 1;
  for (int64_t size : tensorType(rowOp->getOperand(0)).getShape().drop_back()) rows *= size;
  return rows;
}
