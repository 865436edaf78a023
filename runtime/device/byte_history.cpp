// Disjoint segments in order of their begin, cut at the bounds of what is added.
#include "runtime/device/byte_history.h"

#include <algorithm>
#include <iterator>

namespace sgd::device {

void Raise(Progress& progress, const Progress& other) {
  for (size_t i = 0; i < progress.size(); ++i) progress[i] = std::max(progress[i], other[i]);
}

void ByteHistory::Before(const artifact::Slice& slice, bool is_write, Progress& needed) const {
  const auto space = spaces_.find(slice.space());
  if (space == spaces_.end() || slice.size() == 0) return;
  const Segments& segments = space->second;
  auto segment = segments.upper_bound(slice.offset());
  if (segment != segments.begin()) --segment;
  for (; segment != segments.end() && segment->first < slice.offset() + slice.size(); ++segment) {
    if (segment->second.end <= slice.offset()) continue;
    Raise(needed, segment->second.written);
    if (is_write) Raise(needed, segment->second.read);
  }
}

void ByteHistory::Add(const artifact::Slice& slice, bool is_write, uint32_t stream, uint64_t number) {
  if (slice.size() == 0) return;
  Segments& segments = spaces_[slice.space()];
  const uint64_t begin = slice.offset(), end = slice.offset() + slice.size();
  Cut(segments, begin, end, streams_);
  for (auto segment = segments.find(begin); segment != segments.end() && segment->first < end; ++segment) {
    Progress& progress = is_write ? segment->second.written : segment->second.read;
    progress[stream] = std::max(progress[stream], number);
  }
}

void ByteHistory::Cut(Segments& segments, uint64_t begin, uint64_t end, uint32_t streams) {
  const auto cut_at = [&](uint64_t at) {
    auto segment = segments.lower_bound(at);
    if (segment == segments.begin()) return;
    --segment;
    if (segment->second.end <= at) return;
    Segment rest = segment->second;
    segment->second.end = at;
    segments.emplace(at, std::move(rest));
  };
  cut_at(begin);
  cut_at(end);
  for (uint64_t at = begin; at < end;) {
    auto segment = segments.lower_bound(at);
    if (segment != segments.end() && segment->first == at) {
      at = segment->second.end;
      continue;
    }
    const uint64_t gap_end = segment == segments.end() ? end : std::min(end, segment->first);
    segments.emplace(at, Segment{gap_end, Progress(streams, 0), Progress(streams, 0)});
    at = gap_end;
  }
}

}  // namespace sgd::device
