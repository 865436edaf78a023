#include "frontends/stablehlo/complex/roots_of_unity.h"

#include <cmath>

#include "frontends/stablehlo/complex/boundary.h"
#include "gtest/gtest.h"

using namespace mlir::sgd;

namespace {

TEST(RootOfUnity, EighthsAreExactInTheirSymmetry) {
  EXPECT_EQ(rootOfUnity(0, 8).re, 1);
  EXPECT_EQ(rootOfUnity(2, 8).re, 0);
  EXPECT_EQ(rootOfUnity(2, 8).im, 1);
  EXPECT_EQ(rootOfUnity(4, 8).re, -1);
  EXPECT_EQ(rootOfUnity(6, 8).im, -1);
  EXPECT_EQ(rootOfUnity(1, 8).re, rootOfUnity(1, 8).im);
}

TEST(RootOfUnity, AgreesWithTheLibraryAndIsPeriodic) {
  for (int64_t n : {1, 2, 3, 5, 7, 12, 97, 1009}) {
    for (int64_t k = -2 * n; k <= 2 * n; ++k) {
      Root root = rootOfUnity(k, n), same = rootOfUnity(k + n, n);
      long double angle = 2 * 3.14159265358979323846264338327950288L * k / n;
      // Not EXPECT_NEAR, which rounds to double.
      EXPECT_LE(std::fabs(root.re - std::cos(angle)), 4e-18L) << k << " of " << n;
      EXPECT_LE(std::fabs(root.im - std::sin(angle)), 4e-18L) << k << " of " << n;
      EXPECT_EQ(root.re, same.re);
      EXPECT_EQ(root.im, same.im);
    }
  }
}

TEST(RootOfUnity, LargeIndicesDoNotOverflow) {
  constexpr int64_t n = int64_t{1} << 40;
  Root root = rootOfUnity(multiplyModulo(n - 1, n - 1, n), n), first = rootOfUnity(1, n);
  EXPECT_EQ(root.re, first.re);
  EXPECT_EQ(root.im, first.im);
}

TEST(TransformOnHost, AgreesWithTheDefinition) {
  for (int64_t n : {1, 2, 6, 30, 45, 128}) {
    std::vector<Root> x;
    for (int64_t j = 0; j < n; ++j) x.push_back({std::sin(3.0L * j), std::cos(5.0L * j)});
    std::vector<Root> found = transformOnHost(x);
    for (int64_t k = 0; k < n; ++k) {
      Root sum{0, 0};
      for (int64_t j = 0; j < n; ++j) {
        Root root = rootOfUnity(-multiplyModulo(j, k, n), n);
        sum.re += x[j].re * root.re - x[j].im * root.im;
        sum.im += x[j].re * root.im + x[j].im * root.re;
      }
      EXPECT_NEAR(found[k].re, sum.re, 1e-16 * n) << k << " of " << n;
      EXPECT_NEAR(found[k].im, sum.im, 1e-16 * n) << k << " of " << n;
    }
  }
}

TEST(ChooseFactor, FactorsAreEqualShares) {
  EXPECT_EQ(chooseFactor(1024, 64), 32);
  EXPECT_EQ(chooseFactor(4096, 64), 64);
  EXPECT_EQ(chooseFactor(65536, 64), 32);
  EXPECT_EQ(chooseFactor(2 * 1009, 64), 2);
  EXPECT_EQ(chooseFactor(1009, 64), 1);
  EXPECT_EQ(chooseFactor(67 * 71, 64), 1);
  for (int64_t n = 65; n < 5000; ++n) {
    int64_t factor = chooseFactor(n, 64);
    EXPECT_EQ(n % factor, 0);
    EXPECT_LE(factor, 64);
    EXPECT_LT(factor, n);
  }
}

TEST(SmoothSize, IsAProductOfTwoThreeAndFive) {
  EXPECT_EQ(getSmoothSize(1), 1);
  EXPECT_EQ(getSmoothSize(7), 8);
  EXPECT_EQ(getSmoothSize(193), 200);
  EXPECT_EQ(getSmoothSize(2017), 2048);
  EXPECT_EQ(getSmoothSize(20013), 20480);
}

TEST(AppendWholeDim, KeepsSizesOfGroupsLast) {
  EXPECT_EQ(appendWholeDim("{replicated}"), "{replicated}");
  EXPECT_EQ(appendWholeDim("{devices=[2,2]<=[4]}"), "{devices=[2,2,1]<=[4]}");
  EXPECT_EQ(appendWholeDim("{devices=[4]0,1,2,3}"), "{devices=[4,1]0,1,2,3}");
  EXPECT_EQ(appendWholeDim("{devices=[2,2]<=[4] last_tile_dim_replicate}"),
            "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(appendWholeDim("{devices=[4]<=[4] last_tile_dim_replicate}"),
            "{devices=[1,4]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(appendWholeDim("{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}"),
            "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}");
}

}  // namespace
