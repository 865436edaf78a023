// The proof that a program does not depend on the order in which a sort puts rows.
#ifndef SGD_PASSES_SHARDING_PERMUTATION_SORTED_ROWS_H
#define SGD_PASSES_SHARDING_PERMUTATION_SORTED_ROWS_H

#include "dialects/sgd/sharding_rule.h"
#include "passes/sharding/permutation/group_bounds.h"

namespace mlir::sgd {

/// How a value depends on the order of rows.
struct RowOrder {
  int64_t dim;      ///< of the rows
  bool isSorted;    ///< rows are in the order of the sort; else in the order before it, and elements are positions
  bool isPosition;  ///< elements are computed from positions in the sorted order
};

/// A gather or scatter between the two orders: dimension `operandDim` of its operand is read, or written, at indices
/// that depend on their place along `indicesDim` of the indices.
struct RowAccess {
  Operation* op;
  int64_t indicesDim, operandDim;
};

class SortedRows {
 public:
  /// `pairs` are the loops of the function with stacks between them.
  SortedRows(SortOp sort, ArrayRef<LoopPair> pairs) : sort(sort), pairs(pairs) {}

  /// False where the program may depend on the order of rows.
  bool analyze();

  /// The sorts that can be cut into blocks of rows, each permuted on its own: the argsort, and those that invert its
  /// permutation.
  ArrayRef<SortOp> getSorts() const { return sorts; }
  /// The gathers and scatters whose indices in each of `blocks` blocks of rows stay in one block of the operand. Where
  /// `blocks` does not divide a number of rows, blocks are rounded up.
  SmallVector<RowAccess> getBlockedAccesses(int64_t blocks) const;
  ArrayRef<GroupComparison> getComparisons() const { return comparisons; }
  int64_t getNumRows() const;
  Value getSortedKeys() const { return SortOp(sort).getResults()[0]; }

 private:
  bool visitBlock(Block& block);
  bool visit(Operation* op);
  bool visitStack(DynamicUpdateSliceOp op);
  bool addReader(unsigned pair);
  bool visitSort(SortOp op);
  bool visitGather(GatherOp op);
  bool visitScatter(ScatterOp op);
  bool visitPermuted(ScatterOp op);
  bool visitPositions(Operation* op);
  bool visitByRule(Operation* op, bool mayReduce);

  const RowOrder* find(Value value) const {
    auto found = orders.find(value);
    return found == orders.end() ? nullptr : &found->second;
  }
  bool isOrdered(Value value, int64_t dim) const;

  SortOp sort;
  ArrayRef<LoopPair> pairs;
  SmallVector<unsigned, 2> readers;  // pairs whose second loop reads sorted rows from stacks
  SmallVector<SortOp> sorts;
  SmallVector<RowAccess> accesses;
  SmallVector<GroupComparison> comparisons;
  DenseMap<Value, RowOrder> orders;
  DenseSet<Value> constants;  // comparisons of positions with one result for all
  IndexFunctions functions;
};

}  // namespace mlir::sgd

#endif
