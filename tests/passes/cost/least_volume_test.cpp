// Beside the closed forms that are known for one matmul: H. Al Daas, G. Ballard, L. Grigori, S. Kumar, K. Rouse,
// "Tight memory-independent parallel matrix multiplication communication lower bounds", SPAA 2022, theorem 3.
#include "passes/cost/least_volume.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

/// Elements that a rank moves in a matmul of m x k and k x n on `ranks` ranks, each of which holds its part of every
/// matrix and does its part of the work.
double solve(double m, double n, double k, double ranks) {
  auto divided = [&](double elements) { return Quantity{1, elements / ranks, elements / ranks, elements}; };
  return findLeastVolume({divided(m * k), divided(k * n), divided(m * n)},
                         {{{0, 1, 2}, 2 * std::log(m * n * k / ranks)}})
      .bytes;
}

TEST(LeastVolume, MeetsTheOneDimensionalCase) {
  // 4 ranks <= 4096 / 64: only the smallest matrix moves.
  EXPECT_NEAR(solve(4096, 64, 32, 4), 0.75 * 64 * 32, 1);
  EXPECT_NEAR(solve(64, 32, 4096, 4), 0.75 * 64 * 32, 1);
}

TEST(LeastVolume, MeetsTheTwoDimensionalCase) {
  double m = 512, n = 256, k = 16, ranks = 32;
  EXPECT_NEAR(solve(m, n, k, ranks), 2 * std::sqrt(m * n * k * k / ranks) - (m * k + n * k) / ranks, 1);
}

TEST(LeastVolume, TheHeadersExample) { EXPECT_NEAR(solve(256, 256, 256, 64), 9216, 1); }

TEST(LeastVolume, MeetsTheThreeDimensionalCase) {
  double size = 256, ranks = 64;
  EXPECT_NEAR(solve(size, size, size, ranks),
              3 * std::pow(size * size * size / ranks, 2.0 / 3) - 3 * size * size / ranks, 1);
}

TEST(LeastVolume, WhatIsHeldCostsNothing) {
  // The rhs is everywhere: rows of the others need not move.
  EXPECT_EQ(findLeastVolume({{4, 16 * 8, 16 * 8, 64 * 8}, {4, 8 * 8, 8 * 8, 8 * 8}, {4, 16 * 8, 16 * 8, 64 * 8}},
                            {{{0, 1, 2}, 2 * std::log(16.0 * 8 * 8)}})
                .bytes,
            0);
}

TEST(LeastVolume, SharesGrowthByItsCost) {
  // Their product must grow fourfold; an element of the second takes half the bytes.
  LeastVolume volume = findLeastVolume({{4, 10, 10, 100}, {2, 10, 10, 100}}, {{{0, 1}, std::log(400.0)}});
  EXPECT_NEAR(volume.amounts[0], 14.142, 0.01);
  EXPECT_NEAR(volume.amounts[1], 28.284, 0.01);
  EXPECT_NEAR(volume.bytes, 4 * 4.142 + 2 * 18.284, 0.01);
}

TEST(LeastVolume, AQuantityMayOccurTwice) {
  EXPECT_NEAR(findLeastVolume({{1, 10, 10, 100}}, {{{0, 0}, std::log(400.0)}}).bytes, 10, 0.01);
}

TEST(LeastVolume, WhatMustBeThereIsCounted) { EXPECT_EQ(findLeastVolume({{4, 25, 100, 100}}, {}).bytes, 4 * 75); }

}  // namespace
}  // namespace mlir::sgd
