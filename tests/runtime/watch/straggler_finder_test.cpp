// Made-up samples of ranks that are slow, noisy, unequal or without cores, with a printed seed.
#include "runtime/watch/straggler_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace sgd::watch {
namespace {

constexpr uint64_t kSeed = 20261129;

struct Made {
  float compute = 0.002f, input = 0, checkpoint = 0, delay = 0, on_core = 0;
};
using Maker = std::function<Made(uint32_t rank, uint64_t step)>;

// Steps of ranks that meet at the end of each: all wait for the one that takes longest.
class Steps {
 public:
  Steps(std::vector<uint32_t> groups, Maker maker)
      : ranks_(static_cast<uint32_t>(groups.size())), maker_(std::move(maker)), finder_(groups) {}

  // The first straggler within so many steps.
  std::optional<Straggler> Run(uint64_t steps) {
    for (const uint64_t end = next_ + steps; next_ < end; ++next_) {
      std::vector<StepSample> samples;
      float longest = 0;
      for (uint32_t rank = 0; rank < ranks_; ++rank) {
        const Made made = maker_(rank, next_);
        samples.push_back({.step = static_cast<uint32_t>(next_),
                           .compute = made.compute,
                           .input = made.input,
                           .checkpoint = made.checkpoint,
                           .delay = made.delay,
                           .on_core = made.on_core});
        longest = std::max(longest, samples.back().own());
      }
      for (uint32_t rank = 0; rank < ranks_; ++rank) {
        samples[rank].wait = 1e-4f + longest - samples[rank].own();
        finder_.Add(rank, samples[rank]);
        finder_.Add(rank, samples[rank]);  // as ranks publish them again and again
      }
      for (const Straggler& found : finder_.Take()) {
        if (found.has_lasted) ++lasted_;
        if (!found.has_lasted) return found;
      }
    }
    return std::nullopt;
  }
  // How often one that was found has lasted.
  int lasted() const { return lasted_; }

 private:
  const uint32_t ranks_;
  const Maker maker_;
  StragglerFinder finder_;
  uint64_t next_ = 0;
  int lasted_ = 0;
};

std::vector<uint32_t> OneGroup(uint32_t ranks) { return std::vector<uint32_t>(ranks); }

TEST(StragglerFinder, NamesARankThatIsAFifthSlowerWithin20Steps) {
  for (uint32_t ranks : {2u, 3u, 8u, 64u}) {
    Steps steps(OneGroup(ranks),
                [&](uint32_t rank, uint64_t) { return Made{.compute = rank == ranks - 1 ? 0.0024f : 0.002f}; });
    const std::optional<Straggler> found = steps.Run(20);
    ASSERT_TRUE(found.has_value()) << ranks;
    EXPECT_EQ(found->rank, ranks - 1);
    EXPECT_EQ(found->cause, StragglerCause::kCompute);
    EXPECT_FALSE(found->lacks_cores);
    EXPECT_NEAR(found->seconds, 0.0004, 1e-5);
    EXPECT_NEAR(found->share, 0.0004 / 0.0025, 0.01);
    EXPECT_FALSE(steps.Run(1000).has_value()) << "named again";
  }
}

TEST(StragglerFinder, NamesNobodyAmongNoisyRanks) {
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> noise(0, 0.00015f);  // 7 % of a step
  std::uniform_real_distribution<float> chance(0, 1);
  for (uint32_t ranks : {2u, 3u, 8u}) {
    Steps steps(OneGroup(ranks), [&](uint32_t, uint64_t) {
      const float spike = chance(random) < 0.1f ? 0.01f : 0;
      return Made{.compute = std::max(0.0005f, 0.002f + noise(random) + spike)};
    });
    EXPECT_FALSE(steps.Run(20000).has_value()) << ranks << " ranks, seed " << kSeed;
  }
}

TEST(StragglerFinder, FindsASlowRankAmongNoisyOnes) {
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> noise(0, 0.00005f);
  Steps steps(OneGroup(4), [&](uint32_t rank, uint64_t step) {
    return Made{.compute = 0.002f + noise(random) + (rank == 2 && step >= 500 ? 0.0004f : 0)};
  });
  const std::optional<Straggler> found = steps.Run(520);
  ASSERT_TRUE(found.has_value()) << kSeed;
  EXPECT_EQ(found->rank, 2);
  EXPECT_GE(found->step, 500);
}

TEST(StragglerFinder, NamesNobodyInAnyNoise) {
  std::mt19937_64 random(kSeed);
  for (const float share : {0.02f, 0.1f, 0.2f, 0.3f}) {
    std::normal_distribution<float> noise(0, share * 0.002f);
    for (uint32_t ranks : {2u, 3u, 5u}) {
      Steps steps(OneGroup(ranks),
                  [&](uint32_t, uint64_t) { return Made{.compute = std::max(0.0005f, 0.002f + noise(random))}; });
      EXPECT_FALSE(steps.Run(20000).has_value()) << ranks << " ranks, noise of " << share;
    }
  }
}

// How much later a rank is from step to step does not matter, as long as it is late.
TEST(StragglerFinder, FindsARankThatIsLateByAnyAmount) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<float> late(0.0008f, 0.008f);
  for (int run = 0; run < 20; ++run) {
    Steps steps(OneGroup(2),
                [&](uint32_t rank, uint64_t) { return Made{.compute = 0.002f + (rank == 1 ? late(random) : 0)}; });
    const std::optional<Straggler> found = steps.Run(20);
    ASSERT_TRUE(found.has_value()) << run;
    EXPECT_EQ(found->rank, 1);
  }
}

// The figures of docs/watching.md: how long it takes to tell a rank that is a fifth slower.
TEST(StragglerFinder, TakesAsLongAsTheNoiseAsksFor) {
  std::mt19937_64 random(kSeed);
  double before = 0;
  for (const auto& [scatter, most] : {std::pair(0.01f, 15.0), {0.03f, 20.0}, {0.05f, 35.0}, {0.1f, 100.0}}) {
    constexpr int kRuns = 50;
    double sum = 0;
    std::normal_distribution<float> noise(0, scatter * 0.002f);
    for (int run = 0; run < kRuns; ++run) {
      Steps steps(OneGroup(2), [&](uint32_t rank, uint64_t step) {
        return Made{.compute = 0.002f + noise(random) + (rank == 1 && step >= 100 ? 0.0004f : 0)};
      });
      const std::optional<Straggler> found = steps.Run(1000);
      ASSERT_TRUE(found.has_value()) << scatter;
      ASSERT_EQ(found->rank, 1) << scatter;
      ASSERT_GE(found->step, 100) << scatter;
      sum += static_cast<double>(found->step - 99);
    }
    std::printf("scatter of %.0f %%: after %.0f steps on average\n", 100 * scatter, sum / kRuns);
    EXPECT_LE(sum / kRuns, most) << scatter;
    EXPECT_GE(sum / kRuns, before) << "less noise takes longer";
    before = sum / kRuns;
  }
}

// Other programs that run for some steps on the cores of one rank, and noise that goes on from step to step.
TEST(StragglerFinder, NamesNobodyForBursts) {
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> noise(0, 0.00006f);
  std::uniform_real_distribution<float> chance(0, 1);
  int left = 0;
  uint32_t hit = 0;
  Steps bursts(OneGroup(2), [&](uint32_t rank, uint64_t) {
    if (rank == 0 && left > 0) --left;
    if (rank == 0 && left == 0 && chance(random) < 0.02f) left = 5, hit = chance(random) < 0.5f ? 0 : 1;
    return Made{.compute = 0.002f + noise(random) + (left > 0 && rank == hit ? 0.001f : 0)};
  });
  EXPECT_FALSE(bursts.Run(20000).has_value()) << kSeed;
  float drift[2] = {};
  Steps drifting(OneGroup(2), [&](uint32_t rank, uint64_t) {
    drift[rank] = 0.6f * drift[rank] + 2.2f * noise(random);
    return Made{.compute = 0.002f + drift[rank]};
  });
  EXPECT_FALSE(drifting.Run(20000).has_value()) << kSeed;
}

TEST(StragglerFinder, NamesTwoSlowRanksOfFive) {
  Steps steps(OneGroup(5),
              [](uint32_t rank, uint64_t) { return Made{.compute = rank == 1 || rank == 3 ? 0.0025f : 0.002f}; });
  const std::optional<Straggler> first = steps.Run(20), second = steps.Run(20);
  ASSERT_TRUE(first && !second) << "both are found in the same step, and the first one is told";
  StragglerFinder finder(OneGroup(5));
  std::vector<uint32_t> named;
  for (uint32_t step = 0; step < 20; ++step) {
    for (uint32_t rank = 0; rank < 5; ++rank) {
      const bool is_slow = rank == 1 || rank == 3;
      finder.Add(rank, {.step = step, .compute = is_slow ? 0.0025f : 0.002f, .wait = is_slow ? 0 : 0.0005f});
    }
    for (const Straggler& straggler : finder.Take()) named.push_back(straggler.rank);
  }
  EXPECT_THAT(named, ::testing::ElementsAre(1, 3));
}

TEST(StragglerFinder, SaysEveryFiftyStepsThatARankHasLasted) {
  bool is_slow = true;
  Steps steps(OneGroup(2),
              [&](uint32_t rank, uint64_t) { return Made{.compute = rank == 1 && is_slow ? 0.0025f : 0.002f}; });
  ASSERT_TRUE(steps.Run(20).has_value());
  EXPECT_FALSE(steps.Run(145).has_value());
  EXPECT_EQ(steps.lasted(), 2) << "in 145 steps";
  is_slow = false;
  EXPECT_FALSE(steps.Run(500).has_value());
  EXPECT_LE(steps.lasted(), 3);
}

TEST(StragglerFinder, TellsTheCause) {
  Steps input(OneGroup(2), [](uint32_t rank, uint64_t) { return Made{.input = rank == 0 ? 0.001f : 0.0001f}; });
  EXPECT_EQ(input.Run(20)->cause, StragglerCause::kInput);
  Steps checkpoint(OneGroup(2), [](uint32_t rank, uint64_t) { return Made{.checkpoint = rank == 0 ? 0.001f : 0}; });
  EXPECT_EQ(checkpoint.Run(20)->cause, StragglerCause::kCheckpoint);
}

// Stages differ, and a rank of its own stage is compared with its own past.
TEST(StragglerFinder, ComparesStagesWithTheirOwnPast) {
  const auto unequal = [](uint32_t rank, uint64_t) { return Made{.compute = 0.001f * static_cast<float>(1 + rank)}; };
  Steps lone({0, 1, 2}, unequal);
  EXPECT_FALSE(lone.Run(2000).has_value());
  Steps pairs({0, 0, 1, 1}, [](uint32_t rank, uint64_t) { return Made{.compute = rank < 2 ? 0.001f : 0.003f}; });
  EXPECT_FALSE(pairs.Run(2000).has_value());
  Steps slower({0, 1, 2}, [&](uint32_t rank, uint64_t step) {
    return Made{.compute = unequal(rank, step).compute * (rank == 2 && step >= 100 ? 1.25f : 1)};
  });
  const std::optional<Straggler> found = slower.Run(120);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 2);
}

// A stage that becomes slower within the bubble of another one costs nothing.
TEST(StragglerFinder, BlamesNobodyWhomNobodyWaitsFor) {
  Steps hidden({0, 1}, [](uint32_t rank, uint64_t step) {
    return Made{.compute = rank == 0 ? 0.003f : step >= 100 ? 0.002f : 0.001f};
  });
  EXPECT_FALSE(hidden.Run(500).has_value());
}

// Other programs on its core cost a rank up to half of what they delay it, which is no slow core; and at least a tenth,
// which does not make its peer a slow one.
TEST(StragglerFinder, AllowsForProgramsOnTheSameCore) {
  Steps contended(OneGroup(2), [](uint32_t rank, uint64_t) {
    return rank == 0 ? Made{.compute = 0.006f + 0.002f, .delay = 0.004f + 0.001f, .on_core = 0.003f}
                     : Made{.compute = 0.0022f, .delay = 0.0002f, .on_core = 0.002f};
  });
  EXPECT_FALSE(contended.Run(2000).has_value());
  Steps slow(OneGroup(2), [](uint32_t rank, uint64_t) {
    return rank == 0 ? Made{.compute = 0.0062f, .delay = 0.004f, .on_core = 0.0022f}
                     : Made{.compute = 0.0026f, .delay = 0.0002f, .on_core = 0.0018f};
  });
  const std::optional<Straggler> found = slow.Run(30);
  ASSERT_TRUE(found.has_value()) << "the peer that stops for 0.6 ms in 2.4";
  EXPECT_EQ(found->rank, 1);
}

TEST(StragglerFinder, WaitsLongForRanksWithoutCores) {
  Steps busy(OneGroup(2), [](uint32_t rank, uint64_t) {
    return rank == 1 ? Made{.compute = 0.003f, .delay = 0.001f} : Made{.compute = 0.002f};
  });
  EXPECT_FALSE(busy.Run(5000).has_value());  // 15 s
  const std::optional<Straggler> found = busy.Run(10000);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->lacks_cores);
}

// A neighbour of a virtual machine takes cycles of a core for some seconds; a stopped process has none at all.
TEST(StragglerFinder, WaitsForARankThatRunsSlowlyAndNotForOneThatStops) {
  for (uint32_t ranks : {2u, 4u}) {
    const auto slow = [&](uint32_t rank) { return rank == ranks - 1 ? 0.0026f : 0.002f; };
    Steps running(OneGroup(ranks),
                  [&](uint32_t rank, uint64_t) { return Made{.compute = slow(rank), .on_core = slow(rank)}; });
    const auto seconds = static_cast<uint64_t>(StragglerFinder::kRunningSlowlySeconds / 0.0027);
    EXPECT_FALSE(running.Run(seconds).has_value()) << ranks;
    EXPECT_TRUE(running.Run(200).has_value()) << ranks;
    Steps stopped(OneGroup(ranks),
                  [&](uint32_t rank, uint64_t) { return Made{.compute = slow(rank), .on_core = 0.002f}; });
    EXPECT_TRUE(stopped.Run(20).has_value()) << ranks;
  }
}

TEST(StragglerFinder, TellsStopsOfAStageFromSlowness) {
  const auto late = [](uint32_t rank, uint64_t step) { return rank == 2 && step >= 100 ? 0.0006f : 0; };
  Steps running({0, 1, 2}, [&](uint32_t rank, uint64_t step) {
    return Made{.compute = 0.002f + late(rank, step), .on_core = 0.002f + late(rank, step)};
  });
  EXPECT_FALSE(running.Run(3000).has_value()) << "within 8 s";
  EXPECT_TRUE(running.Run(2000).has_value());
  Steps stopped({0, 1, 2}, [&](uint32_t rank, uint64_t step) {
    return Made{.compute = 0.002f + late(rank, step), .on_core = 0.002f};
  });
  EXPECT_TRUE(stopped.Run(120).has_value());
}

// A rank that is stopped for 3 of 15 ms: steps are hit once, twice or three times, which is no noise.
TEST(StragglerFinder, NamesARankThatIsStoppedNowAndThenWithin20Steps) {
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> noise(1, 0.015f);
  std::uniform_real_distribution<float> phase(0, 0.012f);
  for (const float compute : {0.013f, 0.017f, 0.02f, 0.025f, 0.03f}) {
    for (int run = 0; run < 20; ++run) {
      float until_stop = phase(random);
      Steps steps(OneGroup(2), [&](uint32_t rank, uint64_t) {
        const float on_core = compute * noise(random);
        if (rank == 0) return Made{.compute = on_core, .on_core = on_core};
        float stopped = 0;
        for (until_stop -= on_core; until_stop < 0; until_stop += 0.012f) stopped += 0.003f;
        return Made{.compute = on_core + stopped, .on_core = on_core};
      });
      const std::optional<Straggler> found = steps.Run(20);
      ASSERT_TRUE(found.has_value()) << "steps of " << compute << " s, run " << run << ", seed " << kSeed;
      EXPECT_EQ(found->rank, 1);
    }
  }
}

// Each rank lacks a core for most of the time, one of them longer, and neither stops.
TEST(StragglerFinder, DoesNotTakeDelaysForStops) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<float> delay(0.002f, 0.008f);
  Steps steps(OneGroup(2), [&](uint32_t rank, uint64_t) {
    const float waited = delay(random) * (rank == 0 ? 2 : 1);
    return Made{.compute = 0.002f + waited, .delay = waited, .on_core = 0.002f};
  });
  EXPECT_FALSE(steps.Run(1000).has_value()) << kSeed;
}

TEST(StragglerFinder, NamesARankAgainAfterItHasKeptUp) {
  Steps steps(OneGroup(2), [](uint32_t rank, uint64_t step) {
    return Made{.compute = rank == 1 && (step < 50 || step > 300) ? 0.003f : 0.002f};
  });
  EXPECT_TRUE(steps.Run(50).has_value());
  EXPECT_FALSE(steps.Run(250).has_value());
  EXPECT_TRUE(steps.Run(50).has_value());
}

TEST(StragglerFinder, IgnoresWhatNoRankShouldSend) {
  StragglerFinder finder({0, 0});
  finder.Add(7, {.step = 5});
  for (uint32_t step = 0; step < 100000; step += 7) finder.Add(0, {.step = step, .compute = 1});
  EXPECT_TRUE(finder.Take().empty());
  EXPECT_TRUE(StragglerFinder({}).Take().empty());
}

}  // namespace
}  // namespace sgd::watch
