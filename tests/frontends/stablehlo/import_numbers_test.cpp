// Bits and special functions, built from several ops, by value: against results worked out by hand or by the C library.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/frontends/stablehlo/import_values.h"

namespace mlir::sgd {
namespace {

/// State and bits of rng_bit_generator; what JAX gives on CPU.
struct RandomBits {
  const char *algorithm, *type;
  Integers state, bits;
};

TEST_F(ImportValues, RandomBits) {
  const RandomBits cases[] = {
      {"THREE_FRY", "3xui32", {1, 1}, {277883032, 1381858422, -1271552006}},
      {"THREE_FRY", "2x2xui16", {1, 1}, {10392, -22534, 31862, 10117}},
      {"THREE_FRY", "3xui64", {1, 2}, {5935036730470049944, -7571914893285808134, 3280001176275675250}},
      {"PHILOX", "3xui32", {1, 0}, {1483621553, 651866410, -658994983}},
      {"PHILOX", "2x2xui16", {1, 0}, {17585, -20182, -30503, 12492}},
      {"DEFAULT", "3xui64", {1, 1}, {2799744913794548913, -2794429912415958823, -8291753825011497777}}};
  for (const RandomBits& expected : cases) {
    std::string type = "tensor<" + std::string(expected.type) + ">";
    auto results = run("func.func public @main() -> (tensor<2xui64>, " + type + R"() {
      %s = stablehlo.constant dense<[1, 18446744073709551615]> : tensor<2xui64>
      %state, %bits = stablehlo.rng_bit_generator %s, algorithm = )" +
                       expected.algorithm + " : (tensor<2xui64>) -> (tensor<2xui64>, " + type +
                       ")\nreturn %state, %bits : tensor<2xui64>, " + type + "\n}");
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].integers, expected.state) << expected.algorithm << " " << type;
    EXPECT_EQ(results[1].integers, expected.bits) << expected.algorithm << " " << type;
  }
}

TEST_F(ImportValues, BitcastsBetweenWidths) {
  auto results =
      run(R"(func.func public @main() -> (tensor<2x4xui8>, tensor<2xf32>, tensor<1xf64>, tensor<8xi1>, tensor<i8>) {
    %b = stablehlo.constant dense<-107> : tensor<i8>
    %3 = stablehlo.bitcast_convert %b : (tensor<i8>) -> tensor<8xi1>
    %4 = stablehlo.bitcast_convert %3 : (tensor<8xi1>) -> tensor<i8>
    %x = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
    %0 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x4xui8>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x4xui8>) -> tensor<2xf32>
    %y = stablehlo.constant dense<[[0.0, 2.0]]> : tensor<1x2xf32>
    %2 = stablehlo.bitcast_convert %y : (tensor<1x2xf32>) -> tensor<1xf64>
    return %0, %1, %2, %3, %4 : tensor<2x4xui8>, tensor<2xf32>, tensor<1xf64>, tensor<8xi1>, tensor<i8>
  })");
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results[3].integers, (Integers{1, 0, 1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(results[4].integers, (Integers{-107}));
  EXPECT_EQ(results[0].integers, (Integers{0, 0, -128, 63, 0, 0, 0, -64}));
  EXPECT_EQ(results[1].floats, (Floats{1, -2}));
  EXPECT_EQ(results[2].floats, (Floats{2}));
}

TEST_F(ImportValues, ReducePrecision) {
  auto results = run(R"(func.func public @main() -> (tensor<6xf32>, tensor<4xf64>, tensor<1xf16>, tensor<1xf32>) {
    %x = stablehlo.constant dense<[1.2345, -70000.0, 1.0e-6, 3.0625, 65519.0, 0x7FC00000]> : tensor<6xf32>
    %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<6xf32>
    %y = stablehlo.constant dense<[1.2345, -300.0, 1.0e-3, 3.0625]> : tensor<4xf64>
    %1 = stablehlo.reduce_precision %y, format = e4m3 : tensor<4xf64>
    %n = stablehlo.constant dense<0xFFC00000> : tensor<1xf32>
    %3 = stablehlo.reduce_precision %n, format = e8m0 : tensor<1xf32>
    %z = stablehlo.constant dense<1.2345> : tensor<1xf16>
    %2 = stablehlo.reduce_precision %z, format = e8m23 : tensor<1xf16>
    return %0, %1, %2, %3 : tensor<6xf32>, tensor<4xf64>, tensor<1xf16>, tensor<1xf32>
  })");
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[3].floats, (Floats{-HUGE_VAL}));
  EXPECT_TRUE(std::isnan(results[0].floats[5]));
  results[0].floats.pop_back();
  EXPECT_EQ(results[0].floats, (Floats{1.234375, -HUGE_VAL, 0, 3.0625, 65504}));
  EXPECT_EQ(results[1].floats, (Floats{1.25, -HUGE_VAL, 0, 3}));
  EXPECT_EQ(results[2].floats, (Floats{1.234375}));
}

TEST_F(ImportValues, GammaFunctions) {
  for (const auto& [type, tolerance] : {std::pair("f32", 8e-6), std::pair("f64", 1e-12)}) {
    std::string tensor = "tensor<7x" + std::string(type) + ">", types = tensor + ", " + tensor + ", " + tensor;
    auto results =
        run("func.func public @main() -> (" + types + ", " + tensor + ") {\n%x = stablehlo.constant dense<" +
            "[-2.5, -0.25, 0.125, 0.75, 2.0, 9.5, 64.0]> : " + tensor + "\n%0 = chlo.lgamma %x : " + tensor + " -> " +
            tensor + "\n%1 = chlo.digamma %x : " + tensor + " -> " + tensor + "\n%2 = chlo.bessel_i1e %x : " + tensor +
            " -> " + tensor + "\n%n = stablehlo.constant dense<2.0> : " + tensor +
            "\n%a = stablehlo.abs %x : " + tensor + "\n%3 = chlo.polygamma %n, %a : " + tensor + ", " + tensor +
            " -> " + tensor + "\nreturn %0, %1, %2, %3 : " + types + ", " + tensor + "\n}");
    ASSERT_EQ(results.size(), 4u);
    const double x[] = {-2.5, -0.25, 0.125, 0.75, 2.0, 9.5, 64.0};
    for (int i = 0; i < 7; ++i) {
      auto near = [&](double got, double want, double scale) {
        EXPECT_NEAR(got, want, tolerance * (std::fabs(want) + scale)) << type << " at " << x[i];
      };
      near(results[0].floats[i], std::lgamma(x[i]), 1);
      // The slope of lgamma, and the integral of I1's definition, in long steps of Simpson's rule.
      double h = 1e-4, slope = (std::lgamma(x[i] + h) - std::lgamma(x[i] - h)) / (2 * h);
      EXPECT_NEAR(results[1].floats[i], slope, 1e-5 * (1 + std::fabs(slope)));
      near(results[2].floats[i],
           std::copysign(std::cyl_bessel_i(1, std::fabs(x[i])) * std::exp(-std::fabs(x[i])), x[i]), 0);
      // The second derivative of digamma: a sum, and the integral of what is beyond it.
      constexpr int kTerms = 100000;
      double a = std::fabs(x[i]), sum = -1 / std::pow(a + kTerms - 0.5, 2);
      for (int k = kTerms; k-- > 0;) sum -= 2 / std::pow(a + k, 3);
      near(results[3].floats[i], sum, 0);
    }
  }
}

TEST_F(ImportValues, HighHalvesOfProducts) {
  auto results = run(R"(func.func public @main() -> (tensor<4xi64>, tensor<4xui64>, tensor<2xi8>) {
    %x = stablehlo.constant dense<[-1, 9223372036854775807, -9223372036854775808, 4294967296]> : tensor<4xi64>
    %0 = chlo.mulhi %x, %x : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
    %u = stablehlo.bitcast_convert %x : (tensor<4xi64>) -> tensor<4xui64>
    %1 = chlo.mulhi %u, %u : tensor<4xui64>, tensor<4xui64> -> tensor<4xui64>
    %b = stablehlo.constant dense<[-128, 100]> : tensor<2xi8>
    %2 = chlo.mulhi %b, %b : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
    return %0, %1, %2 : tensor<4xi64>, tensor<4xui64>, tensor<2xi8>
  })");
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].integers, (Integers{0, 4611686018427387903, 4611686018427387904, 1}));
  EXPECT_EQ(results[1].integers, (Integers{-2, 4611686018427387903, 4611686018427387904, 1}));
  EXPECT_EQ(results[2].integers, (Integers{64, 39}));
}

TEST_F(ImportValues, BooleansInHexadecimal) {
  // A byte each, as JAX writes them, and a bit each.
  auto results = run(R"(func.func public @main() -> (tensor<9xi1>, tensor<9xi1>) {
    %0 = stablehlo.constant dense<"0x010000010100000001"> : tensor<9xi1>
    %1 = stablehlo.constant dense<"0x1901"> : tensor<9xi1>
    return %0, %1 : tensor<9xi1>, tensor<9xi1>
  })");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].integers, (Integers{1, 0, 0, 1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(results[1].integers, results[0].integers);
}

TEST_F(ImportValues, InverseErrorFunction) {
  for (const auto& [type, tolerance] : {std::pair("f32", 4e-7), std::pair("f64", 4e-16), std::pair("bf16", 5e-3)}) {
    auto results =
        run("func.func public @main() -> (tensor<9x" + std::string(type) + ">, tensor<9x" + type + R"(>) {
      %x = stablehlo.constant dense<[-1.0, -0.999, -0.75, -1.0e-3, 0.0, 0.3, 0.5, 0.96875, 1.0]> : tensor<9x)" +
            type + R"(>
      %0 = chlo.erf_inv %x : tensor<9x)" +
            type + "> -> tensor<9x" + type + ">\nreturn %x, %0 : tensor<9x" + type + ">, tensor<9x" + type + ">\n}");
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[1].floats[0], -HUGE_VAL);
    EXPECT_EQ(results[1].floats[8], HUGE_VAL);
    EXPECT_EQ(results[1].floats[4], 0);
    for (int i : {1, 2, 3, 5, 6, 7}) {
      double x = results[0].floats[i], y = results[1].floats[i];
      if (x == -1) continue;  // -0.999 in bf16
      // erf(y) is within what an error of y may make of x.
      double slope = 1.1283791670955126 * std::exp(-y * y);
      EXPECT_LE(std::fabs(std::erf(y) - x) / slope, tolerance * std::fabs(y) + 3e-16 / slope) << type << " " << x;
    }
  }
}

TEST_F(ImportValues, NextAfter) {
  auto results = run(R"(func.func public @main() -> tensor<6xf32> {
    %x = stablehlo.constant dense<[1.0, 1.0, 0.0, -1.0, 2.0, 3.4028235e38]> : tensor<6xf32>
    %y = stablehlo.constant dense<[2.0, -2.0, -1.0, 0.0, 2.0, 0x7F800000]> : tensor<6xf32>
    %0 = chlo.next_after %x, %y : tensor<6xf32>, tensor<6xf32> -> tensor<6xf32>
    return %0 : tensor<6xf32>
  })");
  ASSERT_EQ(results.size(), 1u);
  const float x[] = {1, 1, 0, -1, 2, 3.4028235e38f}, y[] = {2, -2, -1, 0, 2, HUGE_VALF};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(results[0].floats[i], std::nextafterf(x[i], y[i])) << i;
}

}  // namespace
}  // namespace mlir::sgd
