// Ranges of a dimension whose tiles lie on different ranks: which elements a rank takes from which tile. Depends
// on nothing, so that the compiler's report and the runtime's counter count with the very same functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace sgd::comm {

// Tile i holds elements [i * tile, min((i + 1) * tile, size)) of the dimension; what is left of a tile is padding,
// which nobody reads. Element e of result j is element Start(j) + e * step, or zero where that is not in [0, size).
struct TileRange {
  uint64_t size = 0;
  uint64_t tile = 0;
  uint64_t length = 0;  // elements of a result
  int64_t scale = 0;
  int64_t offset = 0;
  uint64_t divisor = 1;
  uint64_t step = 1;

  // floor((scale * j + offset) / divisor)
  int64_t Start(uint64_t j) const {
    const int64_t numerator = scale * static_cast<int64_t>(j) + offset;
    const int64_t denominator = static_cast<int64_t>(divisor);
    return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
  }
};

// Positions [begin, end) of a result.
struct ResultSpan {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
};

// The positions of the result that begins at `start` whose elements are in [low, high).
inline ResultSpan SpanWithin(const TileRange& range, int64_t start, int64_t low, int64_t high) {
  const int64_t step = static_cast<int64_t>(range.step);
  const auto first_from = [&](int64_t element) {  // first position at or after `element`
    const int64_t position = element <= start ? 0 : (element - start + step - 1) / step;
    return std::min(static_cast<uint64_t>(position), range.length);
  };
  const ResultSpan span{first_from(low), first_from(high)};
  return span.begin < span.end ? span : ResultSpan{span.begin, span.begin};
}

// Calls visit(tile index, span) for every tile that holds elements of the result that begins at `start`.
template <class Visit>
void ForEachTile(const TileRange& range, int64_t start, Visit visit) {
  const ResultSpan inside = SpanWithin(range, start, 0, static_cast<int64_t>(range.size));
  for (uint64_t position = inside.begin; position < inside.end;) {
    const uint64_t tile = (static_cast<uint64_t>(start) + position * range.step) / range.tile;
    const ResultSpan span = SpanWithin(range, start, static_cast<int64_t>(tile * range.tile),
                                       static_cast<int64_t>(std::min((tile + 1) * range.tile, range.size)));
    visit(tile, span);
    position = span.end;
  }
}

// A sub-axis by the distance of its ranks: a rank's coordinate on it is rank / stride % size.
struct SubAxis {
  uint64_t stride = 1;
  uint64_t size = 1;
};

// The linear index of `rank` over `sub_axes`, the first being the slowest.
inline uint64_t IndexOver(std::span<const SubAxis> sub_axes, uint64_t rank) {
  uint64_t index = 0;
  for (const SubAxis& sub_axis : sub_axes) index = index * sub_axis.size + rank / sub_axis.stride % sub_axis.size;
  return index;
}

// The rank that has `index` over `sub_axes`, and every other coordinate of `rank`.
inline uint64_t WithIndex(std::span<const SubAxis> sub_axes, uint64_t rank, uint64_t index) {
  for (size_t i = sub_axes.size(); i-- > 0;) {
    const SubAxis& sub_axis = sub_axes[i];
    rank = rank - rank / sub_axis.stride % sub_axis.size * sub_axis.stride + index % sub_axis.size * sub_axis.stride;
    index /= sub_axis.size;
  }
  return rank;
}

// Adds to sent[r] the bytes that rank r sends to others, an element of the dimension being `element_bytes`. A rank
// holds the tile of its index over `tiles`, wants the result of its index over `results`, and takes what it lacks from
// the ranks that differ from it only in `tiles`.
inline void AddSentBytes(std::span<const SubAxis> tiles, std::span<const SubAxis> results, const TileRange& range,
                         uint64_t element_bytes, std::span<uint64_t> sent) {
  for (uint64_t rank = 0; rank < sent.size(); ++rank) {
    ForEachTile(range, range.Start(IndexOver(results, rank)), [&](uint64_t tile, const ResultSpan& span) {
      const uint64_t sender = WithIndex(tiles, rank, tile);
      if (sender != rank) sent[sender] += span.size() * element_bytes;
    });
  }
}

}  // namespace sgd::comm
