// Changes of loops, and accesses to rows of tensors that they step over.
#ifndef SGD_PASSES_GRAPH_LOOPS_EDIT_LOOP_H
#define SGD_PASSES_GRAPH_LOOPS_EDIT_LOOP_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Returns `loop` with the values `inits` as further iter_args, which its body leaves as they are. The ops of the body
/// stay; `loop` is erased.
WhileOp addInvariants(WhileOp loop, ValueRange inits);

/// Returns the iter_arg of the body of `loop` that holds `value`, a value from in front of the loop, in all trips.
/// Adds one where there is none, which replaces `loop`.
Value getInBody(WhileOp& loop, Value value);

/// Returns the iter_arg of the body of `loop` that counts trips, 0, 1, ..., a scalar. Adds one where there is none,
/// which replaces `loop`.
Value getTripNumber(WhileOp& loop);

/// Lets `loop` write `value`, of its body, to row `index` of an iter_arg of `rows` rows, which starts from zeros. Where
/// `value` is an iter_arg, the row holds it as it is when a trip begins. Replaces `loop`; the iter_arg is the last one.
WhileOp addStack(WhileOp loop, Value value, Value index, int64_t rows);

/// Replaces `loop`, whose trips are known, by the ops of all its trips. Returns the values of its results.
SmallVector<Value> unrollLoop(WhileOp loop);

/// Returns row `index` of `stack`, of shape [1, ...].
Value readRow(OpBuilder& builder, Value stack, Value index);

/// Returns the value that was given the shape of `row`, [1, ...], with its elements in the same order; else null.
Value dropLeadingDim(Value row);

/// The type of `count` values of type `type`, one behind the other in a leading dimension.
RankedTensorType getStackType(RankedTensorType type, int64_t count);

}  // namespace mlir::sgd

#endif
