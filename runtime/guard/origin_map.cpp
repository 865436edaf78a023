// Parts that stick out of what is replaced are cut.
#include "runtime/guard/origin_map.h"

#include <algorithm>
#include <vector>

namespace sgd::guard {

using artifact::Slice;

OriginMap::Parts::const_iterator OriginMap::FirstIn(const Slice& slice) const {
  auto part = parts_.upper_bound({slice.space(), slice.offset()});
  if (part == parts_.begin()) return part;
  const auto before = std::prev(part);
  return before->first.first == slice.space() && before->second.end > slice.offset() ? before : part;
}

void OriginMap::Clear(const Slice& slice) {
  const uint64_t begin = slice.offset(), end = slice.offset() + slice.size();
  for (auto part = FirstIn(slice); part != parts_.end();) {
    const auto [space, first] = part->first;
    if (space != slice.space() || first >= end) return;
    const Part cut = part->second;
    part = parts_.erase(part);
    if (first < begin) parts_[{space, first}] = {begin, cut.origin};
    if (cut.end > end) parts_[{space, end}] = cut;
  }
}

void OriginMap::Set(const Slice& slice, const Origin& origin) {
  if (slice.size() == 0) return;
  Clear(slice);
  parts_[{slice.space(), slice.offset()}] = {slice.offset() + slice.size(), origin};
}

void OriginMap::Copy(const Slice& source, const Slice& target) {
  const uint64_t source_end = source.offset() + source.size();
  std::vector<std::pair<Slice, Origin>> copied;
  for (auto part = FirstIn(source); part != parts_.end(); ++part) {
    const uint64_t begin = std::max(part->first.second, source.offset());
    if (part->first.first != source.space() || begin >= source_end) break;
    const uint64_t end = std::min(part->second.end, source_end);
    copied.emplace_back(Slice(target.space(), target.offset() + begin - source.offset(), end - begin),
                        part->second.origin);
  }
  Clear(target);
  for (const auto& [slice, origin] : copied) Set(slice, origin);
}

std::optional<Origin> OriginMap::Find(const Slice& slice) const {
  const auto part = FirstIn(slice);
  if (part == parts_.end() || part->first.first != slice.space()) return std::nullopt;
  if (part->first.second >= slice.offset() + slice.size()) return std::nullopt;
  return part->second.origin;
}

}  // namespace sgd::guard
