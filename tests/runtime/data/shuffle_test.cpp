// The permutation is one, differs by seed and epoch, mixes well, and never changes between
// versions.
#include "runtime/data/shuffle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sgd::data {
namespace {

std::vector<uint64_t> Order(uint64_t size, uint64_t seed, uint64_t epoch) {
  Permutation permutation(size, seed, epoch);
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < size; ++i) order.push_back(permutation(i));
  return order;
}

TEST(Permutation, IsABijectionOfEverySize) {
  for (uint64_t size = 1; size <= 300; ++size) {
    std::vector<bool> seen(size, false);
    for (uint64_t row : Order(size, size, 3)) {
      ASSERT_LT(row, size);
      ASSERT_FALSE(seen[row]);
      seen[row] = true;
    }
  }
}

TEST(Permutation, DiffersBySeedAndEpoch) {
  EXPECT_EQ(Order(100, 1, 0), Order(100, 1, 0));
  EXPECT_NE(Order(100, 1, 0), Order(100, 1, 1));
  EXPECT_NE(Order(100, 1, 0), Order(100, 2, 0));
  // Neighbouring seeds and epochs must not share orders.
  EXPECT_NE(Order(100, 1, 1), Order(100, 2, 0));
}

TEST(Permutation, SendsEveryIndexEverywhere) {
  // Chi-squared of where each index of 16 goes over 16,000 epochs; 225 degrees of freedom, so 350
  // is far beyond chance.
  constexpr int kSize = 16;
  constexpr int kEpochs = 16'000;
  std::vector<int> counts(kSize * kSize, 0);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    Permutation permutation(kSize, 42, epoch);
    for (int i = 0; i < kSize; ++i) ++counts[i * kSize + permutation(i)];
  }
  const double expected = static_cast<double>(kEpochs) / kSize;
  double chi_squared = 0;
  for (int count : counts) chi_squared += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_squared, 350);
}

TEST(Permutation, HandlesTheLargestSizes) {
  const uint64_t size = uint64_t{1} << 62;
  Permutation permutation(size, 1, 1);
  EXPECT_LT(permutation(size - 1), size);
  EXPECT_NE(permutation(0), permutation(1));
}

TEST(Permutation, IsFixedForever) {
  // From an independent implementation of the definition in shuffle.h.
  EXPECT_EQ(Order(10, 0, 0), (std::vector<uint64_t>{8, 0, 9, 1, 6, 3, 2, 5, 7, 4}));
}

}  // namespace
}  // namespace sgd::data
