// Algebra of mesh axes and their parts (sub-axes, as Shardy's), for code that knows no IR: an axis is a position
// in the mesh, its size is given by whoever makes the part.
//
// Example: an axis "x" of 8 ranks is a 2 x 2 x 2 grid of the sub-axes "x":(1)2, "x":(2)2 and "x":(4)2, major first;
// rank 5 = 0b101 has the coordinates 1, 0, 1 on them. "x":(begin)size is AxisPart{axis, begin, size}.
//
//   contains("x":(1)4, "x":(2)2)           true: (1)4 is (1)2 and (2)2
//   intersection("x":(1)4, "x":(2)4)       "x":(2)2
//   difference("x":(1)8, "x":(2)2)         "x":(1)2, "x":(4)2
//   merged({"x":(1)2, "x":(2)2})           "x":(1)4; {"x":(2)2, "x":(1)2} stays as it is: another order
//   commonPrefix({"x":(1)4}, {"x":(1)2})   "x":(1)2
//   getRankStride({8}, "x":(2)2)           2: ranks 5 and 7 differ on it alone
#ifndef SGD_PASSES_MESH_AXIS_H
#define SGD_PASSES_MESH_AXIS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace mlir::sgd {

/// A sub-axis. An axis of n ranks seen as a grid of [begin, size, n / end()] has the middle dimension as a part; the
/// whole axis is begin = 1, size = n. Two parts of one axis relate only through their ranges [begin, end()).
struct AxisPart {
  unsigned axis;
  int64_t begin;
  int64_t size;

  int64_t end() const { return begin * size; }
  bool operator==(const AxisPart&) const = default;
};

/// Axis parts from major to minor.
using AxisParts = llvm::SmallVector<AxisPart, 2>;

/// Sizes of the mesh axes, the first axis slowest: ranks are numbered row-major.
using MeshSizes = llvm::SmallVector<int64_t, 4>;

/// Product of the sizes of `parts`: the number of ranks that differ only on them, and of the shards
/// that they make of a dimension.
int64_t getGroupSize(llvm::ArrayRef<AxisPart> parts);

/// How far apart two ranks are whose coordinates on `part` differ by one.
int64_t getRankStride(llvm::ArrayRef<int64_t> mesh, const AxisPart& part);

/// True when the parts share a sub-axis, or are parts of different divisions of the axis ((1)2 and (3)2 of 6).
bool overlaps(const AxisPart& a, const AxisPart& b);
bool overlaps(llvm::ArrayRef<AxisPart> a, llvm::ArrayRef<AxisPart> b);

/// True when `inner` is a part of `outer`, with whole factors on both sides.
bool contains(const AxisPart& outer, const AxisPart& inner);

/// The shared sub-axis, or nullopt when there is none or the ranges do not cut each other evenly.
std::optional<AxisPart> intersection(const AxisPart& a, const AxisPart& b);

/// The parts of `a` that are not in `b`, major first: none, one or two parts. `a` alone when the
/// ranges do not cut evenly or do not meet.
AxisParts difference(const AxisPart& a, const AxisPart& b);

/// The parts of `parts` that are not in `removed`, in order.
AxisParts difference(llvm::ArrayRef<AxisPart> parts, llvm::ArrayRef<AxisPart> removed);

/// True when `major` directly followed by `minor` is one sub-axis.
bool canMerge(const AxisPart& major, const AxisPart& minor);

/// Appends `part` to `parts`, merged into the last one where possible. Parts of size 1 vanish.
void appendMerged(AxisParts& parts, const AxisPart& part);

/// The one form of `parts`: neighbours merged, nothing of size 1.
AxisParts merged(llvm::ArrayRef<AxisPart> parts);

/// The longest list that both begin with, cutting the last part when one continues where the other
/// ends.
AxisParts commonPrefix(llvm::ArrayRef<AxisPart> a, llvm::ArrayRef<AxisPart> b);

/// True when `longer` begins with `prefix` (equal lists included).
bool isPrefix(llvm::ArrayRef<AxisPart> prefix, llvm::ArrayRef<AxisPart> longer);

/// The parts behind `prefix` in `longer`, which must begin with it.
AxisParts dropPrefix(llvm::ArrayRef<AxisPart> prefix, llvm::ArrayRef<AxisPart> longer);

/// The longest prefix of `parts` that shares nothing with `used`; the part where they first meet is cut.
AxisParts prefixWithoutOverlap(llvm::ArrayRef<AxisPart> parts, llvm::ArrayRef<AxisPart> used);

/// The longest prefix of `parts` whose number of shards divides `size`; the first part that does not fit is cut to the
/// part that does.
AxisParts prefixThatDivides(llvm::ArrayRef<AxisPart> parts, int64_t size);

}  // namespace mlir::sgd

#endif
