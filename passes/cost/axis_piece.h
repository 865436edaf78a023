// Parts of mesh axes as plain numbers: what groups of ranks are made of, for code that knows no IR.
#ifndef SGD_PASSES_COST_AXIS_PIECE_H
#define SGD_PASSES_COST_AXIS_PIECE_H

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd {

/// The middle digit of an axis index seen as [preSize, size, rest]; preSize 1 and the axis' size is the whole axis.
struct AxisPiece {
  unsigned axis = 0;  // position in the mesh
  int64_t preSize = 1;
  int64_t size = 1;

  bool operator==(const AxisPiece &other) const {
    return axis == other.axis && preSize == other.preSize && size == other.size;
  }
};

/// Sizes of the mesh axes, the first axis slowest: ranks are numbered row-major.
using MeshSizes = llvm::SmallVector<int64_t, 4>;

/// Product of the sizes of `pieces`: the number of ranks in their group.
inline int64_t getGroupSize(llvm::ArrayRef<AxisPiece> pieces) {
  int64_t size = 1;
  for (const AxisPiece &piece : pieces) size *= piece.size;
  return size;
}

/// How far apart two ranks are whose digits of `piece` differ by one.
inline int64_t getRankStride(llvm::ArrayRef<int64_t> mesh, const AxisPiece &piece) {
  int64_t stride = mesh[piece.axis] / (piece.preSize * piece.size);
  for (size_t axis = piece.axis + 1; axis < mesh.size(); ++axis) stride *= mesh[axis];
  return stride;
}

}  // namespace mlir::sgd

#endif
