// Tensors that are spread over the stages of a pipeline along dimension 0, as parameters stacked by layers.
#ifndef SGD_DIALECTS_SGD_STAGE_ROWS_H
#define SGD_DIALECTS_SGD_STAGE_ROWS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::sgd {

/// DenseI64ArrayAttr on arguments and results: first row and number of rows of each range of dimension 0 that is here,
/// in ascending order; absent where all rows are. Each range is sharded by itself. Of a stage's function,
/// `sgd.position` says of which tensor. Before `sgd-form-stages` each range is an argument or result of its own, with
/// the name of the whole and `sgd.whole`.
inline constexpr llvm::StringLiteral kRowsAttr = "sgd.rows";

/// DenseI64ArrayAttr on arguments and results until `sgd-form-stages`: of which argument or result of the program as it
/// was written they are rows, and how many rows that has. On all arguments and results that were renumbered so, with
/// -1 rows where they are whole.
inline constexpr llvm::StringLiteral kWholeAttr = "sgd.whole";

}  // namespace mlir::sgd

#endif
