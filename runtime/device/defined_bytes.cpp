// Intervals that touch are joined.
#include "runtime/device/defined_bytes.h"

#include <algorithm>
#include <iterator>

namespace sgd::device {

void DefinedBytes::Add(const artifact::Slice& slice) {
  if (slice.size() == 0) return;
  std::map<uint64_t, uint64_t>& intervals = spaces_[slice.space()];
  uint64_t begin = slice.offset(), end = slice.offset() + slice.size();
  auto at = intervals.upper_bound(begin);
  if (at != intervals.begin() && std::prev(at)->second >= begin) --at;
  while (at != intervals.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = intervals.erase(at);
  }
  intervals[begin] = end;
}

uint64_t DefinedBytes::Missing(const artifact::Slice& slice) const {
  uint64_t missing = slice.size();
  const auto space = spaces_.find(slice.space());
  if (space == spaces_.end()) return missing;
  const uint64_t begin = slice.offset(), end = slice.offset() + slice.size();
  auto at = space->second.upper_bound(begin);
  if (at != space->second.begin()) --at;
  for (; at != space->second.end() && at->first < end; ++at) {
    const uint64_t from = std::max(begin, at->first), to = std::min(end, at->second);
    if (from < to) missing -= to - from;
  }
  return missing;
}

}  // namespace sgd::device
