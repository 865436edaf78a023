// The running median and what it bounds.
#include "runtime/guard/loss_history.h"

#include <gtest/gtest.h>

namespace sgd::guard {
namespace {

TEST(LossHistory, BoundsNothingBeforeItKnowsEnough) {
  LossHistory losses;
  for (size_t i = 0; i + 1 < LossHistory::kLeast; ++i) losses.Add(1);
  EXPECT_FALSE(losses.IsAbove(1e30, 2));
  losses.Add(1);
  EXPECT_TRUE(losses.IsAbove(2.1, 2));
  EXPECT_FALSE(losses.IsAbove(2, 2));
}

TEST(LossHistory, OneSpikeMovesNoMedian) {
  LossHistory losses;
  for (size_t i = 0; i < LossHistory::kLeast; ++i) losses.Add(1);
  losses.Add(1000);
  EXPECT_EQ(losses.median(), 1);
}

TEST(LossHistory, ForgetsOldLosses) {
  LossHistory losses;
  for (size_t i = 0; i < LossHistory::kMost; ++i) losses.Add(1);
  for (size_t i = 0; i < LossHistory::kMost; ++i) losses.Add(3);
  EXPECT_EQ(losses.median(), 3);
}

TEST(LossHistory, LossesThatAreNotPositiveBoundNothing) {
  LossHistory losses;
  for (size_t i = 0; i < LossHistory::kLeast; ++i) losses.Add(-5);
  EXPECT_FALSE(losses.IsAbove(100, 2));
}

}  // namespace
}  // namespace sgd::guard
