// Distances, limits, and values that are not finite.
#include "runtime/guard/tensor_distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sgd::guard {
namespace {

constexpr auto kF32 = artifact::ElementType::F32;

TensorDistance Of(const std::vector<float>& a, const std::vector<float>& b) {
  return DistanceOf(kF32, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

double Share(const std::vector<float>& many, const std::vector<float>& one, const TensorDistance& moved) {
  return ShareOf(Of(many, one), LimitOf(kF32, std::as_bytes(std::span(one)), moved));
}

TEST(TensorDistance, HasTheFarthestElementAndTheNorm) {
  const TensorDistance distance = Of({1, 2, 3}, {1, 6, 6});
  EXPECT_EQ(distance.largest, 4);
  EXPECT_EQ(distance.element, 1u);
  EXPECT_EQ(distance.norm, 5);
}

TEST(TensorDistance, GoesThroughLargeTensorsInParts) {
  std::vector<float> a(200'000, 1), b = a;
  b[150'000] = 3, b[10] = 2;
  const TensorDistance distance = Of(a, b);
  EXPECT_EQ(distance.largest, 2);
  EXPECT_EQ(distance.element, 150'000u);
  EXPECT_FLOAT_EQ(distance.norm, std::sqrt(5.0));
}

TEST(TensorDistance, TakesEqualValuesThatAreNoNumbersForEqual) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Of({nan, infinity}, {nan, infinity}).largest, 0);
  EXPECT_TRUE(std::isinf(Of({nan}, {1}).largest));
  EXPECT_TRUE(std::isinf(Of({infinity}, {-infinity}).norm));
}

TEST(TensorDistance, AllowsAMultipleOfTheNoise) {
  const TensorDistance moved = Of({1, 1}, {1, 1.001f});
  EXPECT_LT(Share({1.0f, 1.007f}, {1, 1}, moved), 1);
  EXPECT_GT(Share({1.0f, 1.009f}, {1, 1}, moved), 1);
  // Many small differences have a large norm.
  EXPECT_GT(Share(std::vector<float>(200, 1.001f), std::vector<float>(200, 1), {.largest = 0.001, .norm = 0.001}), 1);
}

TEST(TensorDistance, AllowsTwoUnitsWithoutNoise) {
  EXPECT_LE(Share({1 + 0x1p-22f}, {1}, {}), 1);
  EXPECT_GT(Share({1 + 0x1p-21f}, {1}, {}), 1);
  EXPECT_GT(ShareOf({.largest = 1, .norm = 1}, {}), 1);  // of integers
}

TEST(TensorDistance, JudgesNothingThatNoiseMakesInfinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Share({2}, {1}, {.largest = infinite, .norm = infinite}), 0);
}

}  // namespace
}  // namespace sgd::guard
