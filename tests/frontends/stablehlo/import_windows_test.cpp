// Windows and convolutions, built from several ops, by value: against results worked out by hand or by the C library.
#include <gtest/gtest.h>

#include "tests/frontends/stablehlo/import_values.h"

namespace mlir::sgd {
namespace {

/// A sum over windows of iota(9), with the given attributes.
std::string windowSum(const std::string& attributes, int64_t size) {
  const std::string type = "tensor<" + std::to_string(size) + "xi32>";
  return "func.func public @main() -> " + type + R"( {
    %x = stablehlo.iota dim = 0 : tensor<9xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = "stablehlo.reduce_window"(%x, %zero) <{)" +
         attributes + R"(}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }) : (tensor<9xi32>, tensor<i32>) -> )" +
         type + "\nreturn %0 : " + type + "\n}";
}

TEST_F(ImportValues, Windows) {
  struct Case {
    int64_t size, stride, baseDilation, dilation, low, high;
  };
  // Short and long windows (9 and more are combined by doubling), strides, dilations, padding on both sides, negative
  // too.
  for (const Case& c : {Case{3, 1, 1, 1, 0, 0},
                        {3, 2, 1, 1, 1, 1},
                        {2, 3, 1, 2, 0, 1},
                        {4, 1, 2, 1, 2, 3},
                        {9, 1, 1, 1, 8, 0},
                        {11, 2, 2, 1, 4, 5},
                        {13, 1, 2, 1, 6, 6},
                        {2, 1, 1, 1, -2, -1},
                        {1, 4, 1, 1, 0, 0}}) {
    Integers padded;
    for (int64_t i = -c.low; i < 8 * c.baseDilation + 1 + c.high; ++i)
      padded.push_back(i >= 0 && i <= 8 * c.baseDilation && i % c.baseDilation == 0 ? i / c.baseDilation : 0);
    int64_t extent = (c.size - 1) * c.dilation + 1;
    Integers expected;
    for (int64_t at = 0; at + extent <= static_cast<int64_t>(padded.size()); at += c.stride) {
      int64_t sum = 0;
      for (int64_t i = 0; i < c.size; ++i) sum += padded[at + i * c.dilation];
      expected.push_back(sum);
    }
    auto attribute = [](const char* name, int64_t value) {
      return std::string(name) + " = array<i64: " + std::to_string(value) + ">, ";
    };
    std::string attributes = attribute("window_dimensions", c.size) + attribute("window_strides", c.stride) +
                             attribute("base_dilations", c.baseDilation) + attribute("window_dilations", c.dilation) +
                             "padding = dense<[[" + std::to_string(c.low) + ", " + std::to_string(c.high) +
                             "]]> : tensor<1x2xi64>";
    auto results = run(windowSum(attributes, expected.size()));
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].integers, expected) << attributes;
  }
}

TEST_F(ImportValues, MaximumGradientGoesToTheFirst) {
  // Windows of 3 at stride 2 over [1, 3, 3, 0, 5, 2, 4] padded by one on the left: the maxima are at 1, 1, 4, 4...
  // where windows overlap their values add up.
  auto results = run(R"(func.func public @main() -> tensor<7xf32> {
    %x = stablehlo.constant dense<[1.0, 3.0, 3.0, 0.0, 5.0, 2.0, 4.0]> : tensor<7xf32>
    %s = stablehlo.constant dense<[10.0, 20.0, 40.0]> : tensor<3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%x, %s, %zero) <{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<7xf32>, tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
    return %0 : tensor<7xf32>
  })");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].floats, (Floats{0, 30, 0, 0, 40, 0, 0}));
}

/// One-dimensional convolutions of whole numbers, by their definition.
struct Convolution {
  int64_t size, taps, stride, low, high, lhsDilation, rhsDilation;
  bool reverses = false;

  int64_t windows() const {
    return ((size - 1) * lhsDilation + 1 + low + high - ((taps - 1) * rhsDilation + 1)) / stride + 1;
  }
  /// Of one batch and feature: lhs i -> f(i), rhs t -> g(t).
  template <typename F, typename G>
  int64_t at(int64_t window, F f, G g) const {
    int64_t sum = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t place = window * stride + tap * rhsDilation - low;
      if (place >= 0 && place % lhsDilation == 0 && place / lhsDilation < size)
        sum += f(place / lhsDilation) * g(reverses ? taps - 1 - tap : tap);
    }
    return sum;
  }
  std::string attributes() const {
    auto list = [](int64_t value) { return "[" + std::to_string(value) + "]"; };
    return "window = {stride = " + list(stride) + ", pad = [[" + std::to_string(low) + ", " + std::to_string(high) +
           "]], lhs_dilate = " + list(lhsDilation) + ", rhs_dilate = " + list(rhsDilation) + ", reverse = [" +
           (reverses ? "true" : "false") + "]}";
  }
};

TEST_F(ImportValues, Convolutions) {
  for (const Convolution& c :
       {Convolution{7, 3, 1, 1, 1, 1, 1}, {7, 3, 2, 0, 2, 1, 2}, {5, 2, 1, -1, 3, 2, 1}, {6, 4, 3, 2, 0, 1, 1, true}}) {
    // lhs[b][i][f] = 100 b + 10 i + f + 1 of 2 x size x 2, features last in the text's lhs and first in its result.
    std::string size = std::to_string(c.size), taps = std::to_string(c.taps), windows = std::to_string(c.windows());
    std::string x = "dense<[", w = "dense<[";
    for (int b = 0; b < 2; ++b) {
      x += b ? ", [" : "[";
      for (int64_t i = 0; i < c.size; ++i)
        x += (i ? ", [" : "[") + std::to_string(100 * b + 10 * i + 1) + ", " + std::to_string(100 * b + 10 * i + 2) +
             "]";
      x += "]";
    }
    for (int64_t t = 0; t < c.taps; ++t)
      w += std::string(t ? ", " : "") + "[[" + std::to_string(t + 1) + "], [" + std::to_string(-2 * t - 1) + "]]";
    auto results = run("func.func public @main() -> tensor<1x" + windows + "x2xi32> {\n%x = stablehlo.constant " + x +
                       "]> : tensor<2x" + size + "x2xi32>\n%w = stablehlo.constant " + w + "]> : tensor<" + taps +
                       "x2x1xi32>\n%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[f, 0, b], " +
                       c.attributes() + " {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x" +
                       size + "x2xi32>, tensor<" + taps + "x2x1xi32>) -> tensor<1x" + windows +
                       "x2xi32>\nreturn %0 : tensor<1x" + windows + "x2xi32>\n}");
    ASSERT_EQ(results.size(), 1u);
    Integers expected;
    for (int64_t window = 0; window < c.windows(); ++window)
      for (int64_t b = 0; b < 2; ++b)
        expected.push_back(
            c.at(
                window, [&](int64_t i) { return 100 * b + 10 * i + 1; }, [](int64_t t) { return t + 1; }) +
            c.at(window, [&](int64_t i) { return 100 * b + 10 * i + 2; }, [](int64_t t) { return -2 * t - 1; }));
    EXPECT_EQ(results[0].integers, expected) << c.attributes();
  }
}

TEST_F(ImportValues, GroupsOfConvolutions) {
  // No spatial dimensions: a matmul in groups. Features 1 2 | 3 4 meet 1 1 | 10 10; batch rows 0 | 1 their own
  // columns.
  auto results = run(R"(func.func public @main() -> (tensor<2x2xi32>, tensor<1x2xi32>) {
    %x = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
    %w = stablehlo.constant dense<[[1, 10], [1, 10]]> : tensor<2x2xi32>
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %v = stablehlo.constant dense<[[1, 10], [1, 10], [1, 10], [1, 10]]> : tensor<4x2xi32>
    %1 = stablehlo.convolution(%x, %v) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x4xi32>, tensor<4x2xi32>) -> tensor<1x2xi32>
    return %0, %1 : tensor<2x2xi32>, tensor<1x2xi32>
  })");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].integers, (Integers{3, 70, 11, 150}));
  EXPECT_EQ(results[1].integers, (Integers{10, 260}));
}

TEST_F(ImportValues, WindowsWithAnyBody) {
  // The larger of each pair with its position, the first of equal ones; and a product of sums over long windows.
  auto results = run(R"(func.func public @main() -> (tensor<4xf32>, tensor<4xi32>, tensor<2xf32>) {
    %x = stablehlo.constant dense<[3.0, 3.0, 1.0, 5.0, 4.0]> : tensor<5xf32>
    %i = stablehlo.iota dim = 0 : tensor<5xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = "stablehlo.reduce_window"(%x, %i, %low, %none) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %p: tensor<i32>, %b: tensor<f32>, %q: tensor<i32>):
      %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }) : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    %y = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]> : tensor<10xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = "stablehlo.reduce_window"(%y, %zero) <{window_dimensions = array<i64: 9>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %one = stablehlo.constant dense<0.5> : tensor<f32>
      %1 = stablehlo.multiply %b, %one : tensor<f32>
      %2 = stablehlo.add %a, %1 : tensor<f32>
      %3 = stablehlo.add %2, %1 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<10xf32>, tensor<f32>) -> tensor<2xf32>
    return %0#0, %0#1, %4 : tensor<4xf32>, tensor<4xi32>, tensor<2xf32>
  })");
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].floats, (Floats{3, 3, 5, 5}));
  EXPECT_EQ(results[1].integers, (Integers{0, 1, 3, 3}));
  EXPECT_EQ(results[2].floats, (Floats{45, 54}));
}

}  // namespace
}  // namespace mlir::sgd
