// How each op of a manual computation acts on batched values.
#ifndef SGD_PASSES_MANUAL_BATCH_OP_H
#define SGD_PASSES_MANUAL_BATCH_OP_H

#include "passes/manual/batched.h"

namespace mlir::sgd {

/// Rewrites `op`, of the body of a manual computation, for `operands` and appends its results. An op of the graph level
/// takes the leading dimensions along as batch dimensions; a collective becomes an op on them. Fails with a diagnostic
/// on an op that cannot.
LogicalResult batchOp(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch,
                      SmallVectorImpl<Batched>& results);

/// Parts of batchOp, by family. Each returns nullopt for an op of another one.
std::optional<FailureOr<Batched>> batchMove(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch);
std::optional<FailureOr<Batched>> batchIndexed(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch);
std::optional<FailureOr<Batched>> batchContraction(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch);
std::optional<SmallVector<Batched>> batchCollective(Operation* op, ArrayRef<Batched> operands, BatchBuilder& batch);

/// The value of the first rank along `axes`.
Batched takeFirst(Location loc, const Batched& input, ArrayRef<unsigned> axes, BatchBuilder& batch,
                  bool isUniform = false);

/// The axes over which any of `operands` differs.
AxisIndices uniteAxes(ArrayRef<Batched> operands);

/// 0, ..., count - 1, then `values` moved up by `count`: dimensions behind new leading ones.
SmallVector<int64_t> behind(int64_t count, ArrayRef<int64_t> values);
/// `values` moved up by `count`.
SmallVector<int64_t> shifted(int64_t count, ArrayRef<int64_t> values);
/// `count` times `value`, then `values`.
SmallVector<int64_t> prefixed(int64_t count, int64_t value, ArrayRef<int64_t> values);

}  // namespace mlir::sgd

#endif
