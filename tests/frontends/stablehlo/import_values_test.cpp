// Lowerings that build an op from several others, by value: the imported function, evaluated by the reference, against
// results worked out by hand or by the C library.
#include <gtest/gtest.h>

#include <cmath>

#include "frontends/stablehlo/import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "reference/evaluate.h"

using namespace mlir;
using sgd::reference::Tensor;

namespace {

class ImportValues : public testing::Test {
 protected:
  ImportValues() : context(getRegistry()) {}

  /// The results of @main, which has no arguments.
  std::vector<Tensor> run(const std::string& text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    std::vector<Tensor> tensors;
    if (!module || failed(sgd::importStablehlo(*module))) return ADD_FAILURE() << "not imported", tensors;
    auto results = sgd::reference::evaluate(module->lookupSymbol<func::FuncOp>("main"), {}, 1);
    if (failed(results)) return ADD_FAILURE() << "not evaluated", tensors;
    for (auto& result : *results) tensors.push_back(result.front());
    return tensors;
  }

  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    sgd::registerStablehloDialects(registry);
    return registry;
  }

  MLIRContext context;
};

using Integers = std::vector<int64_t>;
using Floats = std::vector<double>;

TEST_F(ImportValues, LoopsAreUnrolled) {
  // Counts down by 2 from 7 to above 0; the bound is carried unchanged.
  auto results = run(R"(func.func public @main() -> (tensor<i32>, tensor<4xi32>) {
    %seven = stablehlo.constant dense<7> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %four = stablehlo.constant dense<0> : tensor<4xi32>
    %0:4 = stablehlo.while(%i = %seven, %end = %zero, %sum = %zero, %seen = %four) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xi32>
    cond {
      %1 = stablehlo.compare GT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %next = stablehlo.subtract %i, %two : tensor<i32>
      %1 = stablehlo.add %sum, %i : tensor<i32>
      %2 = stablehlo.divide %i, %two : tensor<i32>
      %3 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %4 = stablehlo.dynamic_update_slice %seen, %3, %2 : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      stablehlo.return %next, %end, %1, %4 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xi32>
    }
    return %0#2, %0#3 : tensor<i32>, tensor<4xi32>
  })");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].integers, (Integers{16}));
  EXPECT_EQ(results[1].integers, (Integers{1, 3, 5, 7}));
}

TEST_F(ImportValues, LoopsWithoutAnIteration) {
  auto results = run(R"(func.func public @main() -> tensor<ui8> {
    %i = stablehlo.constant dense<200> : tensor<ui8>
    %0 = stablehlo.while(%a = %i) : tensor<ui8> cond {
      %end = stablehlo.constant dense<100> : tensor<ui8>
      %1 = stablehlo.compare LT, %a, %end, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<ui8>
      %1 = stablehlo.add %a, %one : tensor<ui8>
      stablehlo.return %1 : tensor<ui8>
    }
    return %0 : tensor<ui8>
  })");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].integers, (Integers{-56}));  // 200, signless
}

/// A case over three branches and an if, both by %i, which `definition` defines.
std::string chooseBy(const std::string& definition) {
  return "func.func public @main() -> (tensor<2xi32>, tensor<2xi32>) {\n" + definition + R"(
    %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %0 = "stablehlo.case"(%i) ({
      stablehlo.return %c : tensor<2xi32>
    }, {
      %1 = stablehlo.add %c, %c : tensor<2xi32>
      stablehlo.return %1 : tensor<2xi32>
    }, {
      %1 = stablehlo.negate %c : tensor<2xi32>
      stablehlo.return %1 : tensor<2xi32>
    }) : (tensor<i32>) -> tensor<2xi32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %p = stablehlo.compare EQ, %i, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = "stablehlo.if"(%p) ({
      stablehlo.return %c : tensor<2xi32>
    }, {
      stablehlo.return %0 : tensor<2xi32>
    }) : (tensor<i1>) -> tensor<2xi32>
    return %0, %2 : tensor<2xi32>, tensor<2xi32>
  })";
}

TEST_F(ImportValues, BranchesAreChosen) {
  const std::pair<int64_t, Integers> cases[] = {{0, {1, 2}}, {1, {2, 4}}, {2, {-1, -2}}, {-3, {-1, -2}}, {9, {-1, -2}}};
  for (const auto& [index, expected] : cases) {
    const std::string number = "stablehlo.constant dense<" + std::to_string(index) + "> : tensor<i32>\n";
    // An index that import knows, and one that only the evaluation does.
    const std::string definitions[] = {"%i = " + number,
                                       "%n = " + number +
                                           "%zeros = stablehlo.iota dim = 0 : tensor<1xi32>\n"
                                           "%zero = stablehlo.reshape %zeros : (tensor<1xi32>) -> tensor<i32>\n"
                                           "%i = stablehlo.add %n, %zero : tensor<i32>"};
    for (const std::string& definition : definitions) {
      auto results = run(chooseBy(definition));
      ASSERT_EQ(results.size(), 2u);
      EXPECT_EQ(results[0].integers, expected) << index;
      EXPECT_EQ(results[1].integers, index == 1 ? (Integers{1, 2}) : expected) << index;
    }
  }
}

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
  // No spatial dimensions: a matrix product in groups. Features 1 2 | 3 4 meet 1 1 | 10 10; batch rows 0 | 1 their own
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
  // Two tensors at once; 3 - old - update where updates meet, one after another; the last one lies outside.
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
