// A mask or bias of scores, computed block by block from what it is made of instead of being cut from a whole one.
#ifndef SGD_PASSES_SHARDING_CONTEXT_BLOCK_EXPRESSION_H
#define SGD_PASSES_SHARDING_CONTEXT_BLOCK_EXPRESSION_H

#include "llvm/ADT/MapVector.h"
#include "passes/sharding/context/block_math.h"

namespace mlir::sgd {

/// What a body of the ring has of the expression's leaves, in blocks, and which blocks these are.
struct BlockPlace {
  LabelledValue rowNumbers, columnNumbers;  ///< of ranks
  SmallVector<LabelledValue> rowLeaves, columnLeaves;
};

class BlockExpression {
 public:
  BlockExpression(int64_t row, int64_t column) : row(row), column(column) {}

  /// Takes in `value`, whose dimensions are `dims` of the exponentials. False where a part of it has a column for each
  /// row and is not computed, element by element, from iotas, constants and what has only rows or only columns.
  bool add(Value value, const ScoreDims& dims);

  /// What it is computed from, without dimensions of one element that scores have not: whole tensors, the first ones
  /// without columns, the others, which go from rank to rank, with columns.
  ArrayRef<LabelledValue> getRowLeaves() const { return rowLeaves; }
  ArrayRef<LabelledValue> getColumnLeaves() const { return columnLeaves; }

  /// A value that was added, in the blocks of `place`.
  LabelledValue write(BlockMath& math, const BlockPlace& place, Value value, const ScoreDims& dims) const;

 private:
  bool addPart(Value value, const ScoreDims& dims, unsigned depth);
  LabelledValue writeOp(BlockMath& math, const BlockPlace& place, Operation* op, const ScoreDims& dims) const;
  LabelledValue writeIota(BlockMath& math, const BlockPlace& place, IotaOp op, const ScoreDims& dims) const;

  int64_t row, column;
  SmallVector<LabelledValue> rowLeaves, columnLeaves;
};

}  // namespace mlir::sgd

#endif
