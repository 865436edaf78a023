// Rows of stacked values that one stage has: one argument or result for all of them.
#ifndef SGD_PASSES_TIME_STAGES_JOIN_ROWS_H
#define SGD_PASSES_TIME_STAGES_JOIN_ROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Of a stage's function, whose arguments and results have positions: those of one position become one, with the rows
/// of all (`sgd.rows`) and the type of the whole as `sgd.global_type`. Removes `sgd.whole`. An error where
/// they are cut over ranks, or over parts of the batch, in several ways.
LogicalResult joinRows(func::FuncOp function);

}  // namespace mlir::sgd

#endif
