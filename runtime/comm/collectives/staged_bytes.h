// How much memory a collective needs for packing where only contiguous bytes can be moved: between the ranks,
// data that is not contiguous at a sender or a receiver is packed before it is sent, and unpacked after it has come.
// Shared by the compiler, which plans that memory, and the runtime, which uses it. Depends on nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/comm/collectives/tile_range.h"

namespace sgd::comm {

// Every piece begins on a multiple of these.
inline constexpr uint64_t kPieceAlignment = 64;
constexpr uint64_t PieceBytes(uint64_t bytes) {
  return (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

// AllGather, ReduceScatter: of one tensor of `whole` bytes, in which the ranks' parts are in `outer` rows.
constexpr uint64_t StagedWhole(uint64_t outer, uint64_t whole) { return outer > 1 ? PieceBytes(whole) : 0; }

// AllToAll between n ranks: of one source with local dims `dims`, cut along `split` and joined along `concat`.
constexpr uint64_t StagedParts(std::span<const uint64_t> dims, uint64_t split, uint64_t concat, uint64_t element_bytes,
                               uint64_t n) {
  uint64_t bytes = element_bytes, before_split = 1, before_concat = 1;
  for (uint64_t i = 0; i < dims.size(); ++i) {
    if (i < split) before_split *= dims[i];
    // The parts have 1 / n of the dimension that is cut.
    if (i < concat) before_concat *= i == split ? dims[i] / n : dims[i];
    bytes *= dims[i];
  }
  const uint64_t piece = PieceBytes(bytes / n);
  return (n - 1) * piece * ((before_split > 1 ? 1 : 0) + (before_concat > 1 ? 1 : 0));
}

// Calls visit(first tile, end, positions of the result in each) for runs of tiles that hold as many positions each of
// the result that begins at `start`.
template <class Visit>
void ForEachTileRun(const TileRange& range, int64_t start, Visit visit) {
  const ResultSpan inside = SpanWithin(range, start, 0, static_cast<int64_t>(range.size));
  if (inside.size() == 0) return;
  const auto element = [&](uint64_t position) { return static_cast<uint64_t>(start) + position * range.step; };
  const uint64_t first = element(inside.begin) / range.tile, last = element(inside.end - 1) / range.tile;
  const auto visit_tile = [&](uint64_t tile) {
    const ResultSpan span = SpanWithin(range, start, static_cast<int64_t>(tile * range.tile),
                                       static_cast<int64_t>(std::min((tile + 1) * range.tile, range.size)));
    if (span.size() > 0) visit(tile, tile + 1, span.size());
  };
  visit_tile(first);
  if (last > first + 1 && range.tile % range.step == 0) {
    visit(first + 1, last, range.tile / range.step);
  } else {
    for (uint64_t tile = first + 1; tile < last; ++tile) visit_tile(tile);
  }
  if (last > first) visit_tile(last);
}

// GatherRange: adds to staged[r] what rank r packs of one operand, [outer, tile, inner], whose elements of the
// dimension have `inner_bytes`. `tiles` and `results` as for AddSentBytes. Takes time for each rank, not for each pair.
inline void AddStagedBytes(std::span<const SubAxis> tiles, std::span<const SubAxis> results, const TileRange& range,
                           uint64_t outer, uint64_t inner_bytes, std::span<uint64_t> staged) {
  uint64_t group_size = 1;
  for (const SubAxis& sub_axis : tiles) group_size *= sub_axis.size;
  // By rank: how much more it sends than the one before it in its group.
  std::vector<uint64_t> more(staged.size());
  for (uint64_t rank = 0; rank < staged.size(); ++rank) {
    const uint64_t own = IndexOver(tiles, rank);
    ForEachTileRun(range, range.Start(IndexOver(results, rank)), [&](uint64_t first, uint64_t end, uint64_t positions) {
      const bool lies_together = range.step == 1 || positions == 1, has_own = first <= own && own < end;
      const uint64_t piece = PieceBytes(outer * positions * inner_bytes);
      if (outer > 1 && positions != range.length) staged[rank] += (end - first - (has_own ? 1 : 0)) * piece;
      if (lies_together && (outer == 1 || positions == range.tile)) return;
      more[WithIndex(tiles, rank, first)] += piece;
      if (end < group_size) more[WithIndex(tiles, rank, end)] -= piece;
      if (has_own) staged[rank] -= piece;
    });
  }
  for (uint64_t rank = 0; rank < staged.size(); ++rank) {
    if (IndexOver(tiles, rank) != 0) continue;
    for (uint64_t tile = 0, sent = 0; tile < group_size; ++tile) {
      const uint64_t member = WithIndex(tiles, rank, tile);
      staged[member] += sent += more[member];
    }
  }
}

}  // namespace sgd::comm
