// A segment tree of byte ranges.
#include "passes/plan/memory/occupied_space.h"

#include <algorithm>
#include <limits>

namespace mlir::sgd::memory {

void ByteRanges::add(ByteRange range) {
  auto first = std::lower_bound(ranges.begin(), ranges.end(), range.begin,
                                [](const ByteRange& known, uint64_t begin) { return known.end < begin; });
  auto last = first;
  for (; last != ranges.end() && last->begin <= range.end; ++last) {
    range.begin = std::min(range.begin, last->begin);
    range.end = std::max(range.end, last->end);
  }
  if (first == last) {
    ranges.insert(first, range);
    return;
  }
  *first = range;
  ranges.erase(first + 1, last);
}

OccupiedSpace::OccupiedSpace(const std::vector<const std::vector<ArenaBuffer>*>& buffers) {
  for (const std::vector<ArenaBuffer>* list : buffers)
    for (const ArenaBuffer& buffer : *list)
      for (const Lifetime& lifetime : buffer.lifetimes) {
        instants.push_back(lifetime.first);
        instants.push_back(lifetime.last + 1);
      }
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  while (leaves < instants.size()) leaves *= 2;
  always.resize(2 * leaves);
  sometimes.resize(2 * leaves);
}

size_t OccupiedSpace::getIndex(int64_t instant) const {
  return std::lower_bound(instants.begin(), instants.end(), instant) - instants.begin();
}

void OccupiedSpace::add(const std::vector<Lifetime>& lifetimes, ByteRange range) {
  for (const Lifetime& lifetime : lifetimes)
    forEachCover(leaves, getIndex(lifetime.first), getIndex(lifetime.last + 1), [&](size_t node) {
      always[node].add(range);
      for (; node != 0; node /= 2) sometimes[node].add(range);
    });
}

uint64_t OccupiedSpace::findGap(const std::vector<Lifetime>& lifetimes, uint64_t size) const {
  std::vector<ByteRange> busy;
  auto take = [&](const ByteRanges& ranges) { busy.insert(busy.end(), ranges.get().begin(), ranges.get().end()); };
  for (const Lifetime& lifetime : lifetimes)
    forEachCover(leaves, getIndex(lifetime.first), getIndex(lifetime.last + 1), [&](size_t node) {
      take(sometimes[node]);
      for (node /= 2; node != 0; node /= 2) take(always[node]);
    });
  std::sort(busy.begin(), busy.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  uint64_t free = 0, best = 0, bestSize = kNone;
  for (const ByteRange& range : busy) {
    if (range.begin >= free + size && range.begin - free < bestSize) {
      best = free;
      bestSize = range.begin - free;
    }
    free = std::max(free, range.end);
  }
  return bestSize == kNone ? free : best;
}

}  // namespace mlir::sgd::memory
