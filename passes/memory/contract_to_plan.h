// sgd.contract to plan.matmul.
#ifndef SGD_PASSES_MEMORY_CONTRACT_TO_PLAN_H
#define SGD_PASSES_MEMORY_CONTRACT_TO_PLAN_H

#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// A tensor in a buffer: from element `offset` on, with strides in elements, one per dimension; row-major without them.
struct StridedBuffer {
  Value buffer;
  int64_t offset = 0;
  SmallVector<int64_t> strides = {};
};

/// Creates the matmuls for `contract` on the buffers of its operands and result; with `add` the product is added to
/// what the result holds. Emits an error on a contraction that is not a strided matrix product.
LogicalResult createMatmuls(OpBuilder& builder, ContractOp contract, const StridedBuffer& lhs, const StridedBuffer& rhs,
                            const StridedBuffer& result, bool add = false);

}  // namespace mlir::sgd

#endif
