// Rows that a loop reads block by block, as gradient accumulation does: the loop's dimension cannot be sharded, the
// rows of a block can.
//
//   %x  [B, ..]                                     fed
//   %r  reshape %x to [n, B/n, ..]                  blocks: dimension 0, rows: dimension 1
//   trip i of a loop reads %r[i, :, ..]             the step
#ifndef SGD_COMPILER_RECIPE_STEPPED_ROWS_H
#define SGD_COMPILER_RECIPE_STEPPED_ROWS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// A dimension of an argument that holds rows.
struct RowsOfInput {
  unsigned argument;
  unsigned dim;
};

/// A tensor in whose dimension `rows` the batch can be sharded.
struct BlocksOfRows {
  Value value;
  std::optional<int64_t> blocks;  ///< the dimension that the loop steps over, if `value` has it
  int64_t rows;
};

struct SteppedRows {
  /// Tensors computed from the inputs that hold their rows in blocks.
  SmallVector<BlocksOfRows> blocks;
  /// Arguments whose own dimension a loop steps over, one index at a time.
  llvm::SmallDenseSet<unsigned> stackedInputs;
};

/// Finds the loops that step over `inputs`. A loop that slices blocks of rows out of a tensor gets that tensor
/// reshaped to blocks instead, where the slices are known to begin at multiples of their size.
SteppedRows findSteppedRows(func::FuncOp function, ArrayRef<RowsOfInput> inputs);

}  // namespace mlir::sgd

#endif
