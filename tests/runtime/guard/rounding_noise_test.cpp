// Values move by a unit in the last place at most, and stay what programs rely on: equal, ordered, finite.
#include "runtime/guard/rounding_noise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace sgd::guard {
namespace {

std::vector<float> Moved(std::vector<float> values, uint64_t seed) {
  MoveToNeighbours(artifact::ElementType::F32, seed, std::as_writable_bytes(std::span(values)));
  return values;
}

std::vector<float> Samples() {
  std::vector<float> values;
  for (int i = 1; i < 1000; ++i)
    values.push_back(std::sin(static_cast<float>(i)) * std::exp2f(static_cast<float>(i % 40 - 20)));
  return values;
}

TEST(RoundingNoise, MovesSomeByOneUnitAtMost) {
  const std::vector<float> values = Samples();
  size_t changed = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    const std::vector<float> moved = Moved(values, seed);
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t units = std::bit_cast<int32_t>(moved[i]) - int64_t{std::bit_cast<int32_t>(values[i])};
      EXPECT_LE(std::abs(units), 1);
      changed += units != 0;
    }
  }
  EXPECT_GT(changed, values.size());  // about half of those of three draws
  EXPECT_NE(Moved(values, 1), Moved(values, 2));
}

TEST(RoundingNoise, KeepsWhatIsEqualOrderedOrMoved) {
  const std::vector<float> moved = Moved(Samples(), 5);
  EXPECT_EQ(Moved(moved, 5), moved);
  std::vector<float> negative = Samples();
  for (float& value : negative) value = -value;
  const std::vector<float> other = Moved(negative, 5);
  for (size_t i = 0; i < moved.size(); ++i) EXPECT_EQ(moved[i], -other[i]);
  std::vector<float> rising(500, 1.0f);
  for (size_t i = 1; i < rising.size(); ++i) rising[i] = std::nextafter(rising[i - 1], 2.0f);
  const std::vector<float> still = Moved(rising, 7);
  for (size_t i = 1; i < still.size(); ++i) EXPECT_GE(still[i], still[i - 1]);
}

TEST(RoundingNoise, LeavesZeroInfinityAndIntegers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {0.0f, -0.0f, infinity, -infinity};
  for (const uint64_t seed : {1, 2, 3, 4}) {
    EXPECT_EQ(Moved(special, seed), special);
    EXPECT_TRUE(std::isnan(Moved({std::nanf("")}, seed)[0]));
    EXPECT_TRUE(std::isfinite(Moved({std::numeric_limits<float>::max()}, seed)[0]));
    std::vector<int32_t> integers = {1, 2, 3};
    MoveToNeighbours(artifact::ElementType::I32, seed, std::as_writable_bytes(std::span(integers)));
    EXPECT_EQ(integers, (std::vector<int32_t>{1, 2, 3}));
    std::vector<uint8_t> largest = {0x7e, 0x7f};  // of e4m3fn: 448, and what is not a number
    MoveToNeighbours(artifact::ElementType::F8E4M3FN, seed, std::as_writable_bytes(std::span(largest)));
    EXPECT_EQ(largest, (std::vector<uint8_t>{0x7e, 0x7f}));
  }
}

}  // namespace
}  // namespace sgd::guard
