// Properties of the arena planner: live buffers never overlap, fixed ones stay, the size is between the lower bound and
// the sum.
#include "passes/plan/memory/arena_planner.h"

#include <random>

#include "gtest/gtest.h"
#include "passes/plan/memory/occupied_space.h"

namespace mlir::sgd::memory {
namespace {

ArenaBuffer buffer(uint64_t size, int64_t first, int64_t last) { return {size, {{first, last}}, std::nullopt}; }

bool liveTogether(const ArenaBuffer& a, const ArenaBuffer& b) {
  for (const Lifetime& x : a.lifetimes)
    for (const Lifetime& y : b.lifetimes)
      if (x.first <= y.last && y.first <= x.last) return true;
  return false;
}

void expectValid(const std::vector<ArenaBuffer>& buffers, const ArenaPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  uint64_t sum = 0, fixedEnd = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kAlignment, 0u);
    EXPECT_LE(plan.offsets[i] + buffers[i].size, plan.size);
    if (buffers[i].fixedOffset) {
      EXPECT_EQ(plan.offsets[i], *buffers[i].fixedOffset);
      fixedEnd = std::max(fixedEnd, *buffers[i].fixedOffset + buffers[i].size);
    } else {
      sum += (buffers[i].size + kAlignment - 1) / kAlignment * kAlignment;
    }
    for (size_t j = 0; j < i; ++j) {
      if (buffers[i].fixedOffset && buffers[j].fixedOffset) continue;
      const bool apart =
          plan.offsets[i] + buffers[i].size <= plan.offsets[j] || plan.offsets[j] + buffers[j].size <= plan.offsets[i];
      EXPECT_TRUE(apart || !liveTogether(buffers[i], buffers[j])) << i << " and " << j;
    }
  }
  EXPECT_LE(plan.size, sum + (fixedEnd + kAlignment - 1) / kAlignment * kAlignment);
  EXPECT_GE(plan.size, lowerBound(buffers));
}

TEST(ArenaPlanner, EmptyProgramNeedsNothing) { EXPECT_EQ(planArena({}).size, 0u); }

TEST(ArenaPlanner, DisjointLifetimesShare) {
  const ArenaPlan plan = planArena({buffer(100, 0, 1), buffer(128, 2, 3), buffer(64, 4, 4)});
  EXPECT_EQ(plan.size, 128u);
}

TEST(ArenaPlanner, LiveBuffersLieSideBySide) {
  const std::vector<ArenaBuffer> buffers = {buffer(64, 0, 2), buffer(64, 1, 3), buffer(64, 2, 4)};
  const ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(plan.size, 192u);
  expectValid(buffers, plan);
}

TEST(ArenaPlanner, ChainOfEqualSizesNeedsTwo) {
  std::vector<ArenaBuffer> buffers;
  for (int64_t i = 0; i < 20; ++i) buffers.push_back(buffer(256, i, i + 1));
  EXPECT_EQ(planArena(buffers).size, 512u);
}

TEST(ArenaPlanner, FixedBufferIsFreeBetweenItsLifetimes) {
  std::vector<ArenaBuffer> buffers = {{640, {{-1, 2}, {8, 9}}, 0}, buffer(640, 3, 7), buffer(64, 3, 8)};
  const ArenaPlan plan = planArena(buffers);
  expectValid(buffers, plan);
  EXPECT_EQ(plan.offsets[1], 0u);
  EXPECT_EQ(plan.size, 704u);
}

TEST(ArenaPlanner, SameInputSamePlan) {
  std::vector<ArenaBuffer> buffers;
  for (int64_t i = 0; i < 40; ++i) buffers.push_back(buffer(64 * (i % 7 + 1), i, i + i % 5));
  EXPECT_EQ(planArena(buffers).offsets, planArena(buffers).offsets);
}

TEST(ArenaPlanner, RandomPlansAreValid) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<ArenaBuffer> buffers;
    uint64_t fixed = 0;
    const int count = 1 + random() % 30;
    for (int i = 0; i < count; ++i) {
      const int64_t first = random() % 40;
      ArenaBuffer one = buffer(random() % 1000, first, first + random() % 12);
      if (random() % 4 == 0) one.lifetimes.push_back({one.lifetimes[0].last + 3, one.lifetimes[0].last + 5});
      if (random() % 6 == 0) {
        one.fixedOffset = fixed;
        fixed += (one.size + kAlignment - 1) / kAlignment * kAlignment;
      }
      buffers.push_back(one);
    }
    expectValid(buffers, planArena(buffers));
  }
}

/// Best fit by definition: the smallest hole between whatever is alive at the same time.
uint64_t findGapSlowly(const std::vector<ArenaBuffer>& placed, const ArenaBuffer& buffer) {
  std::vector<std::pair<uint64_t, uint64_t>> busy;
  for (const ArenaBuffer& other : placed)
    if (liveTogether(other, buffer)) busy.push_back({*other.fixedOffset, *other.fixedOffset + other.size});
  std::sort(busy.begin(), busy.end());
  uint64_t free = 0, best = 0, bestSize = UINT64_MAX;
  for (auto [begin, end] : busy) {
    if (begin >= free + buffer.size && begin - free < bestSize) best = free, bestSize = begin - free;
    free = std::max(free, end);
  }
  return bestSize == UINT64_MAX ? free : best;
}

TEST(OccupiedSpace, FindsTheGapThatAScanOfAllBuffersFinds) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<ArenaBuffer> buffers, placed;
    for (unsigned i = 0; i < 1 + seed % 40; ++i) {
      const int64_t first = static_cast<int64_t>(random() % 37) - 1;
      buffers.push_back(buffer(1 + random() % 20, first, first + random() % 15));
      const int64_t second = buffers.back().lifetimes[0].last + 1 + random() % 4;
      if (random() % 3 == 0) buffers.back().lifetimes.push_back({second, second + static_cast<int64_t>(random() % 9)});
    }
    OccupiedSpace space({&buffers});
    for (ArenaBuffer& one : buffers) {
      const uint64_t offset = findGapSlowly(placed, one);
      EXPECT_EQ(space.findGap(one.lifetimes, one.size), offset);
      space.add(one.lifetimes, {offset, offset + one.size});
      placed.push_back(one);
      placed.back().fixedOffset = offset;
    }
  }
}

TEST(ByteRanges, WhatTouchesIsOne) {
  ByteRanges ranges;
  for (uint64_t begin : {40, 0, 20, 60}) ranges.add({begin, begin + 10});
  ASSERT_EQ(ranges.get().size(), 4u);
  ranges.add({10, 20});
  ASSERT_EQ(ranges.get().size(), 3u);
  EXPECT_EQ(ranges.get()[0].begin, 0u);
  EXPECT_EQ(ranges.get()[0].end, 30u);
  ranges.add({5, 65});
  ASSERT_EQ(ranges.get().size(), 1u);
  EXPECT_EQ(ranges.get()[0].end, 70u);
}

/// Every assignment of lifetimes to three buffers over three instructions.
TEST(ArenaPlanner, AllSmallCasesReachTheLowerBound) {
  const std::vector<Lifetime> lifetimes = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
  for (const Lifetime& a : lifetimes)
    for (const Lifetime& b : lifetimes)
      for (const Lifetime& c : lifetimes) {
        const std::vector<ArenaBuffer> buffers = {{64, {a}, {}}, {128, {b}, {}}, {192, {c}, {}}};
        const ArenaPlan plan = planArena(buffers);
        expectValid(buffers, plan);
        EXPECT_EQ(plan.size, lowerBound(buffers));
      }
}

ArenaBuffer fixedBuffer(uint64_t size, int64_t first, int64_t last, uint64_t offset) {
  return {size, {{first, last}}, offset};
}

TEST(MoveIntoGaps, LargestAtThePeakMoves) {
  // At instant 1 all three are alive; the host is free until 5 and holds one of the larger ones.
  const std::vector<ArenaBuffer> guests = {buffer(64, 0, 1), buffer(256, 1, 3), buffer(192, 1, 1), buffer(1024, 6, 6)};
  const auto moved = moveIntoGaps(guests, {fixedBuffer(256, 5, 6, 0)}, 256);
  EXPECT_EQ(moved, (std::vector<std::optional<uint64_t>>{std::nullopt, std::nullopt, std::nullopt, std::nullopt}))
      << "the peak at 6 has no room";
  const auto other = moveIntoGaps({guests[0], guests[1], guests[2]}, {fixedBuffer(256, 5, 6, 0)}, 256);
  EXPECT_EQ(other, (std::vector<std::optional<uint64_t>>{std::nullopt, 0, std::nullopt}));
}

TEST(MoveIntoGaps, FixedGuestsStayAndEmptyHostsTakeNothing) {
  EXPECT_EQ(moveIntoGaps({fixedBuffer(64, 0, 1, 0)}, {}, 64), std::vector<std::optional<uint64_t>>{std::nullopt});
  EXPECT_EQ(moveIntoGaps({buffer(64, 0, 1)}, {}, 0), std::vector<std::optional<uint64_t>>{std::nullopt});
  EXPECT_TRUE(moveIntoGaps({}, {}, 64).empty());
}

TEST(MoveIntoGaps, RandomGuestsNeverOverlapAndOnlyHelp) {
  std::mt19937 random(7);
  auto draw = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  for (int round = 0; round < 200; ++round) {
    std::vector<ArenaBuffer> host, guests;
    for (int i = 0; i < 6; ++i) {
      int64_t first = draw(20);
      host.push_back(buffer(1 + draw(500), first, first + draw(6)));
    }
    const ArenaPlan plan = planArena(host);
    for (size_t i = 0; i < host.size(); ++i) host[i].fixedOffset = plan.offsets[i];
    for (int i = 0; i < 12; ++i) {
      int64_t first = draw(20);
      guests.push_back(buffer(1 + draw(500), first, first + draw(6)));
    }
    const auto moved = moveIntoGaps(guests, host, plan.size);
    std::vector<ArenaBuffer> all = host, left;
    for (size_t i = 0; i < guests.size(); ++i) {
      if (!moved[i]) {
        left.push_back(guests[i]);
        continue;
      }
      EXPECT_EQ(*moved[i] % kAlignment, 0u);
      EXPECT_LE(*moved[i] + guests[i].size, plan.size) << "round " << round;
      for (const ArenaBuffer& other : all) {
        const bool apart =
            *moved[i] + guests[i].size <= *other.fixedOffset || *other.fixedOffset + other.size <= *moved[i];
        EXPECT_TRUE(apart || !liveTogether(guests[i], other)) << "round " << round << ", guest " << i;
      }
      all.push_back(guests[i]);
      all.back().fixedOffset = moved[i];
    }
    EXPECT_LE(lowerBound(left), lowerBound(guests));
  }
}

}  // namespace
}  // namespace mlir::sgd::memory
