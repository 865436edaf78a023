// A group of contractions and clusters that can be computed tile by tile, and how it is cut.
#ifndef SGD_PASSES_KERNELS_TILES_TILE_GROUP_H
#define SGD_PASSES_KERNELS_TILES_TILE_GROUP_H

#include "passes/graph/attention/index_ranges.h"
#include "passes/kernels/tiles/tile_dims.h"

namespace mlir::sgd {

/// Rows [begin, begin + size) of a group, for which columns from `columns` on count for nothing.
struct RowBlock {
  int64_t begin = 0;
  int64_t size = 0;
  int64_t columns = 0;
};

class TileGroup {
 public:
  /// `ops` in block order; nothing between them depends on one and feeds another.
  explicit TileGroup(SmallVector<Operation*> ops);

  /// Chooses loops, rows and columns so that all values between the ops take at most `scratchBytes` per tile where
  /// blocks of rows can do that. False when the group cannot be computed in tiles, or is not worth it.
  bool cut(int64_t scratchBytes);

  bool contains(Operation* op) const { return llvm::is_contained(ops, op); }
  /// Used only by ops of the group.
  bool isInternal(Value value) const;
  /// Values that ops of the group read and none of them computes, in order.
  ArrayRef<Value> getInputs() const { return inputs.getArrayRef(); }
  /// Values that are used outside, in order.
  ArrayRef<Value> getOutputs() const { return outputs.getArrayRef(); }
  /// The part of a value that a row block reads, cut by the loops too (their dimensions are [0, 1)).
  IndexBox getBox(Value value, const RowBlock& block) const;
  /// The elements of `value` that a tile sees, all rows and columns of them.
  IndexBox getTileBox(Value value) const;
  /// Whether `box`, a part of a tile of input or output `value`, has its elements next to each other, from a multiple
  /// of 64 bytes on in each tile.
  bool isContiguous(Value value, const IndexBox& box) const;
  /// Whether the contraction sums over rows, so that its result adds up over the row blocks.
  bool sumsOverRows(Operation* op) const;

  const SmallVector<Operation*> ops;
  TileDims dims;
  SmallVector<unsigned> loops;          ///< classes of the loops
  std::optional<unsigned> row, column;  ///< classes
  SmallVector<RowBlock> blocks;         ///< one of everything without rows

 private:
  bool chooseLoops();
  std::optional<unsigned> chooseRow() const;
  std::optional<unsigned> chooseColumn() const;
  bool chooseBlocks(int64_t scratchBytes);
  void limitColumns();
  bool canBeCutInRows(unsigned candidate) const;
  bool haveStridedForms() const;
  bool areKernelOperandsContiguous() const;
  /// Bytes of all internal values of a tile with `rows` rows (0: all).
  int64_t getInternalBytes(int64_t rows) const;

  SetVector<Value> inputs, outputs;
};

}  // namespace mlir::sgd

#endif
