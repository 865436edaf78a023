// Compares the bytes that ranks pack, counted by runs of tiles, with the walk over every pair of a rank and a tile.
#include "runtime/comm/collectives/staged_bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace sgd::comm {
namespace {

using SubAxes = std::vector<SubAxis>;

void AddByPairs(const SubAxes& tiles, const SubAxes& results, const TileRange& range, uint64_t outer,
                uint64_t inner_bytes, std::vector<uint64_t>& staged) {
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

TEST(AddStagedBytes, EqualsTheWalkOverPairs) {
  // A mesh of 2 x 4 ranks, tiles and results numbered by one axis, the other, or both in either order.
  const SubAxis major{4, 2}, minor{1, 4};
  const std::vector<SubAxes> orders = {{}, {major}, {minor}, {major, minor}, {minor, major}};
  uint64_t packing = 0, cases = 0;
  for (const SubAxes& tiles : orders) {
    uint64_t group_size = 1;
    for (const SubAxis& sub_axis : tiles) group_size *= sub_axis.size;
    for (const SubAxes& results : orders)
      for (uint64_t size : {0, 1, 7, 8, 16, 23})
        for (uint64_t length : {0, 1, 3, 8, 23})
          for (int64_t scale : {-3, 0, 1, 2, 3, 5})
            for (int64_t offset : {-5, -1, 0, 2})
              for (uint64_t step : {1, 2, 3})
                for (uint64_t outer : {1, 2}) {
                  const TileRange range{.size = size,
                                        .tile = (size + group_size - 1) / group_size,
                                        .length = length,
                                        .scale = scale,
                                        .offset = offset,
                                        .step = step};
                  std::vector<uint64_t> walked(8), counted(8);
                  AddByPairs(tiles, results, range, outer, 20, walked);
                  AddStagedBytes(tiles, results, range, outer, 20, counted);
                  ASSERT_EQ(counted, walked);
                  packing += walked != std::vector<uint64_t>(8);
                  ++cases;
                }
  }
  EXPECT_GT(packing, cases / 5);
}

}  // namespace
}  // namespace sgd::comm
