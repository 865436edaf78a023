// Goodput against known limits, and against runs that fail at random.
#include "runtime/checkpoint/failures.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace sgd::checkpoint {
namespace {

TEST(Failures, WithoutAnySavingIsAllThatIsLost) {
  FailureModel model{/*mean_time_between=*/1e12, /*save=*/10, /*restart=*/100};
  EXPECT_NEAR(Goodput(model, 90), 0.9, 1e-6);
}

TEST(Failures, BestIntervalIsYoungsWhereSavingIsShort) {
  FailureModel model{/*mean_time_between=*/1e6, /*save=*/1, /*restart=*/0};
  EXPECT_NEAR(BestInterval(model, 0), std::sqrt(2 * 1.0 * 1e6), 5);
}

TEST(Failures, BestIntervalIsTheBest) {
  FailureModel model{/*mean_time_between=*/3000, /*save=*/60, /*restart=*/300};
  double best = BestInterval(model, 1);
  for (double interval : {0.5 * best, 0.9 * best, 1.1 * best, 2 * best})
    EXPECT_LT(Goodput(model, interval), Goodput(model, best)) << interval;
}

TEST(Failures, BestIntervalIsNoLessThanAStep) {
  FailureModel model{/*mean_time_between=*/10, /*save=*/0, /*restart=*/1};
  EXPECT_NEAR(BestInterval(model, 5), 5, 1e-6);
}

/// Seconds until so many intervals are done and saved, with failures at random.
double runAtRandom(const FailureModel& model, double interval, int count, std::mt19937_64& random) {
  std::exponential_distribution<double> next(1 / model.mean_time_between);
  double seconds = 0;
  for (int done = 0; done < count;) {
    double failure = next(random);
    if (failure >= interval + model.save) {
      seconds += interval + model.save;
      ++done;
      continue;
    }
    seconds += failure;
    for (double again = next(random); again < model.restart; again = next(random)) seconds += again;
    seconds += model.restart;
  }
  return seconds;
}

TEST(Failures, GoodputIsThatOfRuns) {
  std::mt19937_64 random(7);
  for (FailureModel model : {FailureModel{1000, 20, 50}, FailureModel{300, 5, 200}, FailureModel{5000, 0, 10}}) {
    constexpr int kIntervals = 20000;
    double seconds = runAtRandom(model, 200, kIntervals, random);
    EXPECT_NEAR(Goodput(model, 200), 200 * kIntervals / seconds, 0.01);
  }
}

}  // namespace
}  // namespace sgd::checkpoint
