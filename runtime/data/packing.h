// Packs pieces of documents into rows of one length, so that few tokens of a row are padding; plain arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sgd::data {

// Consecutive tokens of one document.
struct Segment {
  uint64_t begin = 0;  // of its first token, among those of all files
  uint64_t length = 0;

  bool operator==(const Segment&) const = default;
};

struct Packing {
  std::vector<Segment> segments;   // those of a row follow one another
  std::vector<uint64_t> first{0};  // by row, its first segment; behind the last row, the number of segments

  uint64_t rows() const { return first.size() - 1; }
  std::span<const Segment> Row(uint64_t row) const {
    return std::span(segments).subspan(first[row], first[row + 1] - first[row]);
  }
};

// Best-fit decreasing (Ding et al., "Fewer Truncations Improve Language Modeling", 2024): the longest piece first, into
// the row that it leaves the least room in, or a new one; of equal pieces the first one first. Pieces have 1 to
// `row_length` tokens. This definition is fixed: resumed runs depend on it.
Packing PackPieces(std::vector<Segment> pieces, uint64_t row_length);

}  // namespace sgd::data
