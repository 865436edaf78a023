// Which bytes of a block of memory are occupied when. Plain C++, no IR.
#ifndef SGD_PASSES_PLAN_MEMORY_OCCUPIED_SPACE_H
#define SGD_PASSES_PLAN_MEMORY_OCCUPIED_SPACE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "passes/plan/memory/arena_planner.h"

namespace mlir::sgd::memory {

/// Calls `visit` for the nodes of a binary tree over `leaves` leaves (node 1 is the root, leaf i is node leaves + i)
/// that together cover exactly the leaves [first, last).
template <typename Visit>
void forEachCover(size_t leaves, size_t first, size_t last, Visit visit) {
  for (first += leaves, last += leaves; first < last; first /= 2, last /= 2) {
    if (first % 2 == 1) visit(first++);
    if (last % 2 == 1) visit(--last);
  }
}

/// Bytes [begin, end).
struct ByteRange {
  uint64_t begin, end;
};

/// Ranges of bytes, apart from each other and sorted. What touches is one.
class ByteRanges {
 public:
  void add(ByteRange range);
  const std::vector<ByteRange>& get() const { return ranges; }

 private:
  std::vector<ByteRange> ranges;
};

/// A tree over time. Each node knows the bytes that are occupied all of its time and those that are occupied at some
/// instant of it, as ranges: adjacent bytes count once, so that a question costs the logarithm of the number of
/// instants times the number of holes, not the number of buffers.
class OccupiedSpace {
 public:
  /// Ready for lifetimes of these buffers.
  explicit OccupiedSpace(const std::vector<const std::vector<ArenaBuffer>*>& buffers);

  void add(const std::vector<Lifetime>& lifetimes, ByteRange range);

  /// The offset of the smallest hole of at least `size` bytes that is free during all of `lifetimes`; else the end of
  /// the bytes occupied then.
  uint64_t findGap(const std::vector<Lifetime>& lifetimes, uint64_t size) const;

 private:
  size_t getIndex(int64_t instant) const;

  std::vector<int64_t> instants;  // at which something may begin, or be over
  size_t leaves = 1;              // of the tree, a power of two
  std::vector<ByteRanges> always, sometimes;
};

}  // namespace mlir::sgd::memory

#endif
