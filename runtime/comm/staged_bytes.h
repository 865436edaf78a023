// How much memory a collective needs for packing where only bytes that lie together can be moved: between the ranks,
// what is not so at a sender or a receiver is copied together before it is sent, and apart after it has come. Shared by
// the compiler, which plans that memory, and the runtime, which takes it. Depends on nothing but what is counted alike.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/comm/tile_range.h"

namespace sgd::comm {

// Every piece begins on a multiple of these.
inline constexpr uint64_t kPieceAlignment = 64;
constexpr uint64_t PieceBytes(uint64_t bytes) {
  return (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

// AllGather, ReduceScatter: of one tensor of `whole` bytes, in which the ranks' parts lie in `outer` rows.
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

// GatherRange: adds to staged[r] what rank r packs of one operand, [outer, tile, inner], whose elements of the
// dimension have `inner_bytes`. `tiles` and `results` as for AddSentBytes.
inline void AddStagedBytes(std::span<const RankDigit> tiles, std::span<const RankDigit> results, const TileRange& range,
                           uint64_t outer, uint64_t inner_bytes, std::span<uint64_t> staged) {
  for (uint64_t rank = 0; rank < staged.size(); ++rank) {
    ForEachTile(range, range.Start(IndexOver(results, rank)), [&](uint64_t tile, const ResultSpan& span) {
      const uint64_t sender = WithIndex(tiles, rank, tile);
      if (sender == rank) return;
      const bool lies_together = range.step == 1 || span.size() == 1;
      const uint64_t piece = PieceBytes(outer * span.size() * inner_bytes);
      if (!lies_together || (outer > 1 && span.size() != range.tile)) staged[sender] += piece;
      if (outer > 1 && span.size() != range.length) staged[rank] += piece;
    });
  }
}

}  // namespace sgd::comm
