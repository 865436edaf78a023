// A mask or bias of scores, computed block by block from what it is made of instead of being cut from a whole one.
#ifndef SGD_PASSES_SHARDING_CONTEXT_BLOCK_EXPRESSION_H
#define SGD_PASSES_SHARDING_CONTEXT_BLOCK_EXPRESSION_H

#include "llvm/ADT/MapVector.h"
#include "passes/sharding/context/block_math.h"

namespace mlir::sgd {

/// The blocks of the expression's leaves that a body of the ring has, and their numbers.
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

  /// The operands, without dimensions of one element that scores do not have. Row leaves are replicated and have no
  /// columns; column leaves go from rank to rank.
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
