// Reductions, sorts and scatters with bodies of any kind, built from several ops, by value: against results worked out
// by hand or by the C library.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/frontends/stablehlo/import_values.h"

namespace mlir::sgd {
namespace {

/// JAX's body for argmax over f32 with i32 positions.
constexpr char kArgMax[] = R"(
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    %4 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.or %3, %6 : tensor<i1>
    %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
    %9 = stablehlo.select %7, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
  })";

TEST_F(ImportValues, ArgMaxTakesTheFirstAndNanBeforeAll) {
  auto results = run(R"(func.func public @main() -> (tensor<3xf32>, tensor<3xi32>) {
    %x = stablehlo.constant dense<[[1.0, 5.0, 5.0, 2.0], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [3.0, 0x7FC00000, 9.0, 0x7FC00000]]> : tensor<3x4xf32>
    %p = stablehlo.iota dim = 1 : tensor<3x4xi32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.reduce(%x init: %least), (%p init: %zero) across dimensions = [1] : (tensor<3x4xf32>, tensor<3x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>))" +
                     std::string(kArgMax) + "return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>\n}");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1].integers, (Integers{1, 0, 1}));
  EXPECT_EQ(results[0].floats[0], 5);
  EXPECT_TRUE(std::isnan(results[0].floats[2]));
}

TEST_F(ImportValues, BodiesOfSeveralOps) {
  // Sum and sum of squares at once, over 5 x 2 elements, from initial values that are not neutral.
  auto results = run(R"(func.func public @main() -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
    %x = stablehlo.iota dim = 0 : tensor<5x3x2xi32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.reduce(%x init: %one), (%x init: %one) across dimensions = [0, 2] : (tensor<5x3x2xi32>, tensor<5x3x2xi32>, tensor<i32>, tensor<i32>) -> (tensor<3xi32>, tensor<3xi32>)
     reducer(%a: tensor<i32>, %b: tensor<i32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %2 = stablehlo.add %a, %b : tensor<i32>
      %3 = func.call @larger(%c, %d) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<i32>
    }
    %empty = stablehlo.iota dim = 0 : tensor<3x0xi32>
    %1 = stablehlo.reduce(%empty init: %one) across dimensions = [1] : (tensor<3x0xi32>, tensor<i32>) -> tensor<3xi32>
     reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %2 = func.call @larger(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }
    return %0#0, %0#1, %1 : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
  }
  func.func private @larger(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.select %0, %a, %b : tensor<i1>, tensor<i32>
    return %1 : tensor<i32>
  })");
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].integers, (Integers{21, 21, 21}));
  EXPECT_EQ(results[1].integers, (Integers{4, 4, 4}));
  EXPECT_EQ(results[2].integers, (Integers{1, 1, 1}));
}

TEST_F(ImportValues, SortIsStableAndTotal) {
  // By key, descending; equal keys keep their order.
  auto results = run(R"(func.func public @main() -> (tensor<6xi32>, tensor<5xf32>, tensor<4xf32>, tensor<4xi32>) {
    %k = stablehlo.constant dense<[3, 1, 3, 2, 1, 3]> : tensor<6xi32>
    %p = stablehlo.iota dim = 0 : tensor<6xi32>
    %0:2 = "stablehlo.sort"(%k, %p) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %1 = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
    %f = stablehlo.constant dense<[0x7FC00000, 0.0, -1.0, -0.0, 0xFFC00000]> : tensor<5xf32>
    %2 = "stablehlo.sort"(%f) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<5xf32>) -> tensor<5xf32>
    %v, %i = chlo.top_k(%f, k = 4) : tensor<5xf32> -> (tensor<4xf32>, tensor<4xi32>)
    return %0#1, %2, %v, %i : tensor<6xi32>, tensor<5xf32>, tensor<4xf32>, tensor<4xi32>
  })");
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].integers, (Integers{0, 2, 5, 3, 1, 4}));
  EXPECT_TRUE(std::isnan(results[1].floats[0]) && std::isnan(results[1].floats[4]));
  EXPECT_EQ(results[1].floats[1], -1);
  EXPECT_TRUE(std::signbit(results[1].floats[2]) && !std::signbit(results[1].floats[3]));
  EXPECT_EQ(results[3].integers, (Integers{0, 1, 3, 2}));
}

TEST_F(ImportValues, SelectAndScatterWithAnyBody) {
  // The least of each window, of integers; values are multiplied into the initial 2. Padding is never chosen.
  auto results = run(R"(func.func public @main() -> tensor<5xi32> {
    %x = stablehlo.constant dense<[4, 1, 7, 7, 2]> : tensor<5xi32>
    %s = stablehlo.constant dense<[3, 5, 7]> : tensor<3xi32>
    %init = stablehlo.constant dense<2> : tensor<i32>
    %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<1> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.compare LE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.multiply %a, %b : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }) : (tensor<5xi32>, tensor<3xi32>, tensor<i32>) -> tensor<5xi32>
    return %0 : tensor<5xi32>
  })");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].integers, (Integers{2, 30, 2, 2, 14}));
}

TEST_F(ImportValues, ScatterWithAnyBody) {
  // Two tensors at once; 3 - old - update where updates meet, one after another; the last one is outside.
  auto results = run(R"(func.func public @main() -> (tensor<4xi32>, tensor<4xi32>) {
    %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %y = stablehlo.constant dense<0> : tensor<4xi32>
    %i = stablehlo.constant dense<[[1], [1], [3], [4]]> : tensor<4x1xi32>
    %u = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
    %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %three = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.subtract %three, %a : tensor<i32>
      %2 = stablehlo.subtract %1, %c : tensor<i32>
      %3 = stablehlo.add %b, %d : tensor<i32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<i32>
    }) : (tensor<4xi32>, tensor<4xi32>, tensor<4x1xi32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    return %0#0, %0#1 : tensor<4xi32>, tensor<4xi32>
  })");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].integers, (Integers{1, -8, 3, -31}));
  EXPECT_EQ(results[1].integers, (Integers{0, 30, 0, 30}));
}

TEST_F(ImportValues, BatchNormalisation) {
  auto results = run(
      R"(func.func public @main() -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>) {
    %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 6.0]]> : tensor<2x2xf64>
    %scale = stablehlo.constant dense<[2.0, 1.0]> : tensor<2xf64>
    %offset = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf64>
    %0:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>)
    %g = stablehlo.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>
    %1:3 = "stablehlo.batch_norm_grad"(%x, %scale, %0#1, %0#2, %g) <{epsilon = 1.0 : f32, feature_index = 1 : i64}> : (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>)
    return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2 : tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>
  })");
  ASSERT_EQ(results.size(), 6u);
  EXPECT_EQ(results[0].floats, (Floats{-1, -1, 3, 1}));
  EXPECT_EQ(results[1].floats, (Floats{2, 4}));
  EXPECT_EQ(results[2].floats, (Floats{1, 4}));
  // Feature 0: d = (-1, 1), s = 1/sqrt(2): 2 s / 2 (2 g - 1 + d / 2).
  const double s0 = std::sqrt(0.5), s1 = std::sqrt(0.2);
  const double expected[] = {s0 * 0.5, s1 / 2 * (-1 + 2 * 2 * 0.2), -s0 * 0.5, s1 / 2 * (1 - 2 * 2 * 0.2)};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(results[3].floats[i], expected[i], 1e-12) << i;
  EXPECT_NEAR(results[4].floats[0], -s0, 1e-12);
  EXPECT_NEAR(results[4].floats[1], 2 * s1, 1e-12);
  EXPECT_EQ(results[5].floats, (Floats{1, 1}));
}

}  // namespace
}  // namespace mlir::sgd
