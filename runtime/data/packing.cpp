// Takes time n log n of n pieces for the order, and log of the row's length for each.
#include "runtime/data/packing.h"

#include <algorithm>
#include <map>

namespace sgd::data {

Packing PackPieces(std::vector<Segment> pieces, uint64_t row_length) {
  std::ranges::sort(pieces, [](const Segment& a, const Segment& b) {
    return a.length != b.length ? a.length > b.length : a.begin < b.begin;
  });
  std::map<uint64_t, std::vector<uint64_t>> open;  // rows by the room that is left in them
  std::vector<uint64_t> row_of(pieces.size());
  uint64_t rows = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const uint64_t length = pieces[i].length;
    uint64_t room = row_length;
    if (const auto best = open.lower_bound(length); best != open.end()) {
      room = best->first;
      row_of[i] = best->second.back();
      best->second.pop_back();
      if (best->second.empty()) open.erase(best);
    } else {
      row_of[i] = rows++;
    }
    if (room > length) open[room - length].push_back(row_of[i]);
  }
  Packing packing;
  packing.first.assign(rows + 1, 0);
  for (uint64_t row : row_of) ++packing.first[row + 1];
  for (uint64_t row = 0; row < rows; ++row) packing.first[row + 1] += packing.first[row];
  packing.segments.resize(pieces.size());
  std::vector<uint64_t> next(packing.first.begin(), packing.first.end() - 1);
  for (size_t i = 0; i < pieces.size(); ++i) packing.segments[next[row_of[i]]++] = pieces[i];
  return packing;
}

}  // namespace sgd::data
