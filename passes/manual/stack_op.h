// How each op of a manual computation acts on stacked values.
#ifndef SGD_PASSES_MANUAL_STACK_OP_H
#define SGD_PASSES_MANUAL_STACK_OP_H

#include "passes/manual/stacked.h"

namespace mlir::sgd {

/// Rewrites `op`, of the body of a manual computation, for `operands` and appends its results. An op of the graph level
/// takes the leading dimensions along as batch dimensions; a collective becomes an op on them. Fails with a diagnostic
/// on an op that cannot.
LogicalResult stackOp(Operation* op, ArrayRef<Stacked> operands, StackBuilder& stack,
                      SmallVectorImpl<Stacked>& results);

/// Parts of stackOp, by family. Each returns nullopt for an op of another one.
std::optional<FailureOr<Stacked>> stackMove(Operation* op, ArrayRef<Stacked> operands, StackBuilder& stack);
std::optional<FailureOr<Stacked>> stackIndexed(Operation* op, ArrayRef<Stacked> operands, StackBuilder& stack);
std::optional<FailureOr<Stacked>> stackContraction(Operation* op, ArrayRef<Stacked> operands, StackBuilder& stack);
std::optional<SmallVector<Stacked>> stackCollective(Operation* op, ArrayRef<Stacked> operands, StackBuilder& stack);

/// What the first rank along `axes` holds.
Stacked takeFirst(Location loc, const Stacked& input, ArrayRef<unsigned> axes, StackBuilder& stack,
                  bool isUniform = false);

/// The axes over which any of `operands` differs.
AxisIndices uniteAxes(ArrayRef<Stacked> operands);

/// 0, ..., count - 1, then `values` moved up by `count`: dimensions behind new leading ones.
SmallVector<int64_t> behind(int64_t count, ArrayRef<int64_t> values);
/// `values` moved up by `count`.
SmallVector<int64_t> shifted(int64_t count, ArrayRef<int64_t> values);
/// `count` times `value`, then `values`.
SmallVector<int64_t> prefixed(int64_t count, int64_t value, ArrayRef<int64_t> values);

}  // namespace mlir::sgd

#endif
