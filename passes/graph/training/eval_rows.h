// Makes an evaluation count its rows, so that batches add up to one batch of all rows.
//
// Before, for a batch of 4 rows:    %sum = sgd.reduce add %losses dims [0];  %loss = %sum / 4.0
// After:  rows at the end of the batch, `evaluation/padding` of them, are 0 in the sum. Where the result stops to be
// linear in sums over rows, it is the sum over all batches so far, `evaluation/sums/0`, times 4 / (rows so far:
// `evaluation/rows` and those of this batch). So each
// run of the program returns its scalars over all rows so far, and the last run those of one batch of all rows:
// quotients of sums, exponentials of means and means by a constant number of rows alike.
#ifndef SGD_PASSES_GRAPH_TRAINING_EVAL_ROWS_H
#define SGD_PASSES_GRAPH_TRAINING_EVAL_ROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Adds arguments, which start from zeros, and results of the names of sums that are their values for the next batch
/// (runtime/artifact/evaluation_state.h).
///
/// Leaves the function as it is, with a remark, where a scalar result mixes rows otherwise than by sums (a softmax over
/// the batch), or where inputs disagree about the number of rows.
void countRows(func::FuncOp evaluation);

}  // namespace mlir::sgd

#endif
