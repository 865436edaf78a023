// Made-up samples of ranks that are slow, noisy, unequal or without cores, with a printed seed.
#include "runtime/watch/straggler_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace sgd::watch {
namespace {

constexpr uint64_t kSeed = 20261129;

struct Made {
  float compute = 0.002f, input = 0, checkpoint = 0, delay = 0;
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
                           .delay = made.delay});
        longest = std::max(longest, samples.back().own());
      }
      for (uint32_t rank = 0; rank < ranks_; ++rank) {
        samples[rank].wait = 1e-4f + longest - samples[rank].own();
        finder_.Add(rank, samples[rank]);
        finder_.Add(rank, samples[rank]);  // as ranks publish them again and again
      }
      const std::vector<Straggler> found = finder_.Take();
      if (!found.empty()) return found.front();
    }
    return std::nullopt;
  }

 private:
  const uint32_t ranks_;
  const Maker maker_;
  StragglerFinder finder_;
  uint64_t next_ = 0;
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

TEST(StragglerFinder, WaitsLongForRanksWithoutCores) {
  Steps busy(OneGroup(2), [](uint32_t rank, uint64_t) {
    return rank == 1 ? Made{.compute = 0.003f, .delay = 0.001f} : Made{.compute = 0.002f};
  });
  EXPECT_FALSE(busy.Run(5000).has_value());  // 15 s
  const std::optional<Straggler> found = busy.Run(10000);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->lacks_cores);
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
