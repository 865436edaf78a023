// The closed form against the walk over all ranks and their tiles.
#include "runtime/comm/collectives/range_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

using SubAxes = std::vector<SubAxis>;

uint64_t Ranks(const SubAxes& sub_axes) {
  uint64_t ranks = 1;
  for (const SubAxis& sub_axis : sub_axes) ranks *= sub_axis.size;
  return ranks;
}

// All sub-axes of a mesh, the last axis fastest.
SubAxes SubAxesOf(const std::vector<uint64_t>& sizes) {
  SubAxes sub_axes;
  uint64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) sub_axes.insert(sub_axes.begin(), {stride, sizes[i]});
  return sub_axes;
}

// Every selection of `sub_axes` in every order.
std::vector<SubAxes> Orders(const SubAxes& sub_axes) {
  std::vector<SubAxes> orders;
  for (uint32_t selected = 0; selected < uint32_t{1} << sub_axes.size(); ++selected) {
    std::vector<size_t> order;
    for (size_t i = 0; i < sub_axes.size(); ++i) {
      if (selected >> i & 1) order.push_back(i);
    }
    do {
      orders.emplace_back();
      for (size_t i : order) orders.back().push_back(sub_axes[i]);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return orders;
}

std::string Text(const TileRange& range) {
  return absl::StrCat("size ", range.size, " tile ", range.tile, " length ", range.length, " scale ", range.scale,
                      " offset ", range.offset, " divisor ", range.divisor, " step ", range.step);
}

std::string Text(const SubAxes& sub_axes) {
  std::string text;
  for (const SubAxis& sub_axis : sub_axes) absl::StrAppend(&text, "(", sub_axis.stride, ")", sub_axis.size, " ");
  return text;
}

class RangeLoadTest : public testing::Test {
 protected:
  void Compare(const SubAxes& mesh, const SubAxes& tiles, const SubAxes& results, const std::vector<RangeLoad>& loads) {
    std::vector<uint64_t> sent(Ranks(mesh));
    for (const RangeLoad& load : loads) AddSentBytes(tiles, results, load.range, load.element_bytes, sent);
    const uint64_t walked = *std::max_element(sent.begin(), sent.end());
    ASSERT_EQ(MostSentBytes(tiles, results, loads), walked)
        << "mesh " << Text(mesh) << "tiles " << Text(tiles) << "results " << Text(results) << Text(loads[0].range);
    cases_ += 1;
    sending_ += walked != 0;
  }

  // Not one test of thousands of cases that all send nothing.
  void TearDown() override { EXPECT_GT(sending_, cases_ / 4); }

  uint64_t cases_ = 0, sending_ = 0;
};

// Small numbers, spread by their position so that every pair of them meets.
uint64_t Next(uint64_t& state, uint64_t count) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % count;
}

TEST_F(RangeLoadTest, EqualsTheWalkOnEverySmallRange) {
  for (uint64_t ranks : {1, 2, 3, 4, 5}) {
    const SubAxes mesh = SubAxesOf({ranks});
    for (uint64_t size = 0; size <= 9; ++size)
      for (uint64_t slack = 0; slack < 2; ++slack)
        for (uint64_t length = 0; length <= 4; ++length)
          for (int64_t scale = -2; scale <= 4; ++scale)
            for (int64_t offset = -3; offset <= 3; ++offset)
              for (uint64_t divisor = 1; divisor <= 2; ++divisor)
                for (uint64_t step = 1; step <= 2; ++step)
                  Compare(mesh, mesh, mesh,
                          {{{size, (size + ranks - 1) / ranks + slack, length, scale, offset, divisor, step}, 1}});
  }
}

TEST_F(RangeLoadTest, EqualsTheWalkInEveryOrderOfAxes) {
  const std::vector<SubAxes> meshes = {SubAxesOf({2, 3}),
                                       SubAxesOf({4, 2}),
                                       SubAxesOf({2, 2, 3}),
                                       SubAxesOf({3, 2, 2, 2}),
                                       // An axis of 12 in parts, beside one of 2.
                                       {{8, 3}, {4, 2}, {2, 2}, {1, 2}}};
  uint64_t state = 1;
  for (const SubAxes& mesh : meshes) {
    const std::vector<SubAxes> orders = Orders(mesh);
    for (const SubAxes& tiles : orders) {
      for (const SubAxes& results : orders) {
        const uint64_t size = Next(state, 40), slack = Next(state, 4) / 3;
        TileRange range{.size = size, .tile = (size + Ranks(tiles) - 1) / Ranks(tiles) + slack};
        // New tiles of the same dimension.
        range.length = (size + Ranks(results) - 1) / Ranks(results);
        range.scale = static_cast<int64_t>(range.length);
        Compare(mesh, tiles, results, {{range, 4}});
        range = {size,
                 range.tile,
                 Next(state, 12),
                 static_cast<int64_t>(Next(state, 12)) - 3,
                 static_cast<int64_t>(Next(state, 20)) - 10,
                 1 + Next(state, 3),
                 1 + Next(state, 3)};
        Compare(mesh, tiles, results, {{range, 4}});
      }
    }
  }
}

TEST_F(RangeLoadTest, AddsUpOperands) {
  uint64_t state = 2;
  for (uint64_t i = 0; i < 3000; ++i) {
    const uint64_t ranks = 1 + Next(state, 12);
    const SubAxes mesh = SubAxesOf({ranks});
    std::vector<RangeLoad> loads;
    for (uint64_t operand = 0; operand < uint64_t{2} + i % 2; ++operand) {
      const uint64_t size = Next(state, 60), tile = (size + ranks - 1) / ranks;
      loads.push_back({{size, tile, Next(state, 9), static_cast<int64_t>(tile + Next(state, 2)),
                        static_cast<int64_t>(Next(state, 9)) - 4, 1, 1 + Next(state, 2)},
                       1 + Next(state, 8)});
    }
    Compare(mesh, mesh, mesh, loads);
  }
}

// Long lines: pieces of many points, long periods, quadratics between.
TEST_F(RangeLoadTest, EqualsTheWalkOnLongAxes) {
  uint64_t state = 3;
  for (uint64_t ranks : {64, 97, 128, 240}) {
    const SubAxes mesh = SubAxesOf({ranks});
    std::vector<SubAxes> orders = {mesh, {}};
    if (ranks % 8 == 0) {
      const SubAxes parts = SubAxesOf({8, ranks / 8});
      orders.push_back({parts[1], parts[0]});
      orders.push_back({parts[0]});
      orders.push_back({parts[1]});
    }
    for (const SubAxes& results : orders) {
      for (int i = 0; i < 150; ++i) {
        const uint64_t size = Next(state, 30 * ranks), tile = (size + ranks - 1) / ranks;
        const uint64_t parts = Ranks(results), own = (size + parts - 1) / parts;
        const auto jitter = [&](uint64_t most) {
          return static_cast<int64_t>(Next(state, 2 * most + 1)) - static_cast<int64_t>(most);
        };
        const TileRange range{size,
                              tile,
                              static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(own) + jitter(20))),
                              static_cast<int64_t>(own) + jitter(i % 3),
                              jitter(30),
                              1 + Next(state, 9) / 8,
                              1 + Next(state, 9) / 8};
        Compare(mesh, mesh, results, {{range, 2}});
      }
    }
  }
}

// Models of many ranks ask this: a walk over the tiles of all ranks would take minutes.
TEST(MostSentBytesTest, TakesNoTimePerRank) {
  const SubAxes mesh = SubAxesOf({1 << 20});
  for (int i = 0; i < 1000; ++i) {
    const uint64_t size = 12288 + static_cast<uint64_t>(i);
    const RangeLoad load{{.size = size, .tile = 1, .length = size}, 4};
    // Everybody needs everything, which 12,288 and some have an element of each.
    ASSERT_EQ(MostSentBytes(mesh, {}, std::vector{load}), 4 * ((uint64_t{1} << 20) - 1));
  }
}

TEST(MostSentBytesTest, WalksWhereAxesAreCutInTwoWays) {
  // Halves and thirds of an axis of six.
  const SubAxes halves = {{3, 2}}, thirds = {{2, 3}};
  const TileRange range{.size = 12, .tile = 6, .length = 4, .scale = 4};
  std::vector<uint64_t> sent(6);
  AddSentBytes(halves, thirds, range, 1, sent);
  EXPECT_EQ(MostSentBytes(halves, thirds, std::vector{RangeLoad{range, 1}}),
            *std::max_element(sent.begin(), sent.end()));
}

}  // namespace
}  // namespace sgd::comm
