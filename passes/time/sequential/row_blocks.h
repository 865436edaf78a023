// Tensors of rows that a loop of the program reads block by block, as gradient accumulation does. The IR is only read.
//
//   %r = reshape %x {sgd.sequential_dim = 1}   tensor<4x8x16xf32>   4 blocks of 8 rows
//   trip i of a loop reads %r[i, :, :]
//
// A loop over coordinates cannot have parts of the blocks: it has a part of the rows of each block.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_ROW_BLOCKS_H
#define SGD_PASSES_TIME_SEQUENTIAL_ROW_BLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sharding/propagation/sequential_axis.h"

namespace mlir::sgd {

/// The values from which `values` are computed, with these, without those that `isLeaf` accepts.
llvm::DenseSet<Value> getSlice(ArrayRef<Value> values, llvm::function_ref<bool(Value)> isLeaf);

class RowBlocks {
 public:
  /// `arguments` are cut. There are no blocks if some are computed from other arguments too, as activations are from
  /// parameters: these would be computed for all rows, and rows of one block need the same rows of all.
  RowBlocks(func::FuncOp function, const SequentialAxis& axis, const DenseMap<Value, unsigned>& arguments);

  /// By the result of an op that names it: the dimension in which readers cut it.
  const DenseMap<Value, unsigned>& getDims() const { return dims; }
  /// Ops that name a dimension which has no equal parts.
  ArrayRef<Operation*> getUneven() const { return uneven; }
  /// Whether all coordinates have `value` as a whole: blocks, and values that only lead to blocks.
  bool isWhole(Value value) const {
    return dims.contains(value) || (leading.contains(value) && !others.contains(value));
  }
  /// Whether blocks are computed from `value`.
  bool leadsToBlocks(Value value) const { return leading.contains(value); }

 private:
  DenseMap<Value, unsigned> dims;
  llvm::DenseSet<Value> others, leading;
  SmallVector<Operation*, 0> uneven;
};

}  // namespace mlir::sgd

#endif
