// Packed rows hold every piece once and waste little.
#include "runtime/data/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sgd::data {
namespace {

using Pieces = std::vector<Segment>;

Pieces RowOf(const Packing& packing, uint64_t row) { return {packing.Row(row).begin(), packing.Row(row).end()}; }

TEST(Packing, FillsTheFullestRowThatHasRoom) {
  const Packing packing = PackPieces({{0, 3}, {3, 6}, {9, 2}, {11, 4}, {15, 8}, {23, 1}}, 8);
  ASSERT_EQ(packing.rows(), 3u);
  EXPECT_EQ(RowOf(packing, 0), (Pieces{{15, 8}}));
  EXPECT_EQ(RowOf(packing, 1), (Pieces{{3, 6}, {9, 2}}));
  EXPECT_EQ(RowOf(packing, 2), (Pieces{{11, 4}, {0, 3}, {23, 1}}));
  EXPECT_EQ(PackPieces({}, 8).rows(), 0u);
}

TEST(Packing, HoldsEveryPieceOnceWhateverTheirOrder) {
  std::mt19937 random(3);
  for (int run = 0; run < 100; ++run) {
    const uint64_t length = 1 + random() % 64;
    Pieces pieces;
    uint64_t begin = 0, tokens = 0;
    for (size_t count = random() % 300; count > 0; --count) {
      pieces.push_back({begin, 1 + random() % length});
      begin += pieces.back().length;
    }
    tokens = begin;
    const Packing packing = PackPieces(pieces, length);
    Pieces packed;
    for (uint64_t row = 0; row < packing.rows(); ++row) {
      uint64_t used = 0;
      for (const Segment& segment : packing.Row(row)) used += segment.length, packed.push_back(segment);
      EXPECT_LE(used, length);
      EXPECT_GT(used, 0u);
    }
    std::ranges::sort(packed, {}, &Segment::begin);
    EXPECT_EQ(packed, pieces);
    // Best fit leaves at most one row that is no more than half full.
    EXPECT_LE(packing.rows(), 2 * tokens / length + 1);
    Pieces shuffled = pieces;
    std::ranges::shuffle(shuffled, random);
    EXPECT_EQ(PackPieces(shuffled, length).segments, packing.segments);
  }
}

}  // namespace
}  // namespace sgd::data
