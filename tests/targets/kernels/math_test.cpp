// Errors of elementary functions in units of the last place over dense samples, and their results for special values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "tests/targets/kernels/kernel_runner.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

constexpr int kSamples = 20000;

struct Function {
  const char* name;
  long double (*exact)(long double);
  double low, high;
  double floatUlp, doubleUlp;
};

long double rsqrtl(long double x) { return 1 / sqrtl(x); }

const Function kFunctions[] = {
    {"exp", expl, -87, 88, 1.0, 1.1},         {"exp", expl, -104, -86, 1.5, 1.5},
    {"exp2", exp2l, -126, 127, 1.2, 1.5},     {"expm1", expm1l, -10, 40, 1.5, 1.6},
    {"log", logl, 1e-38, 10, 1.1, 1.1},       {"log", logl, 0.5, 2, 1.1, 1.1},
    {"log2", log2l, 1e-3, 1e3, 2.5, 2.5},     {"log10", log10l, 1e-3, 1e3, 3.0, 3.0},
    {"log1p", log1pl, -0.9, 10, 2.5, 2.5},    {"tanh", tanhl, -10, 10, 3.0, 3.0},
    {"erf", erfl, -4, 4, 2.5, 2.0},           {"erfc", erfcl, -4, 9, 3.2, 3.2},
    {"sin", sinl, -100, 100, 1.6, 1.6},       {"cos", cosl, -100, 100, 1.6, 1.6},
    {"tan", tanl, -1.5, 1.5, 4.0, 4.0},       {"sinh", sinhl, -80, 80, 3.0, 4.0},
    {"cosh", coshl, -80, 80, 3.0, 4.0},       {"asin", asinl, -1, 1, 2.5, 2.5},
    {"acos", acosl, -1, 1, 3.0, 3.0},         {"atan", atanl, -20, 20, 2.5, 3.0},
    {"asinh", asinhl, -50, 50, 4.0, 4.0},     {"acosh", acoshl, 1, 50, 4.0, 4.0},
    {"atanh", atanhl, -0.99, 0.99, 4.0, 4.0}, {"cbrt", cbrtl, -50, 50, 2.0, 2.0},
    {"rsqrt", rsqrtl, 1e-6, 1e6, 1.5, 1.5},   {"sqrt", sqrtl, 0, 1e6, 0.5001, 0.5001},
};

std::string program(const std::string& op, const std::string& type, int size) {
  std::string tensor = "tensor<" + std::to_string(size) + "x" + type + ">";
  return "func.func @f(%a: " + tensor + ") {\nfusion.cluster (%a) {\n^bb0(%x: " + tensor + "):\n%0 = math." + op +
         " %x : " + tensor + "\nfusion.yield %0 : " + tensor + "\n} : (" + tensor + ") -> (" + tensor +
         ")\nreturn\n}\n";
}

/// Distance in units of the last place of the exact result.
double ulpError(double actual, long double exact, bool isDouble) {
  int exponent;
  frexpl(exact, &exponent);
  int digits = isDouble ? 53 : 24, lowest = isDouble ? -1074 : -149;
  long double unit = ldexpl(1, std::max(exponent - digits, lowest));
  return static_cast<double>(fabsl(static_cast<long double>(actual) - exact) / unit);
}

TEST(Accuracy, FewUlp) {
  for (const Function& function : kFunctions)
    for (bool isDouble : {false, true}) {
      double limit = isDouble ? function.doubleUlp : function.floatUlp;
      KernelRunner runner(program(function.name, isDouble ? "f64" : "f32", kSamples));
      ASSERT_TRUE(runner.ok());
      std::vector<Tensor> inputs = runner.makeInputs();
      for (int i = 0; i < kSamples; ++i)
        inputs[0].set(i, function.low + (function.high - function.low) * (i + 0.37) / kSamples);
      std::vector<Tensor> results = runner.run(inputs);
      double worst = 0, where = 0;
      for (int i = 0; i < kSamples; ++i) {
        double error = ulpError(results[0].get(i), function.exact(inputs[0].get(i)), isDouble);
        if (!(error <= worst)) worst = error, where = inputs[0].get(i);
      }
      EXPECT_LE(worst, limit) << function.name << (isDouble ? " f64" : " f32") << " at " << where;
    }
}

/// Added one by one, 2048 equal numbers would give a sum that is 1e-5 off.
TEST(Accuracy, LongSumsOfColumns) {
  constexpr int kRows = 2048, kColumns = 40;
  KernelRunner runner(
      "func.func @f(%a: tensor<2048x40xf32>) {\nfusion.cluster (%a) {\n^bb0(%x: tensor<2048x40xf32>):\n"
      "%0 = sgd.reduce add %x dimensions = [0] : tensor<2048x40xf32> -> tensor<40xf32>\n"
      "fusion.yield %0 : tensor<40xf32>\n} : (tensor<2048x40xf32>) -> (tensor<40xf32>)\nreturn\n}\n");
  ASSERT_TRUE(runner.ok());
  std::vector<Tensor> inputs = runner.makeInputs();
  for (int i = 0; i < kRows * kColumns; ++i) inputs[0].set(i, 0.1 * (1 + i % kColumns));
  std::vector<Tensor> results = runner.run(inputs);
  for (int i = 0; i < kColumns; ++i) {
    double expected = kRows * inputs[0].get(i);
    EXPECT_NEAR(results[0].get(i), expected, 4e-6 * expected) << "column " << i;
  }
}

/// Numbers of every sign and exponent, spread by a counter.
double anyNumber(int i, bool isDouble) {
  uint64_t hash = (static_cast<uint64_t>(i) * 2 + 1) * 0x9E3779B97F4A7C15;
  if (isDouble) return llvm::bit_cast<double>(hash ^ hash >> 32);
  return llvm::bit_cast<float>(static_cast<uint32_t>(hash >> 32));
}

TEST(Accuracy, OverAllNumbers) {
  llvm::StringSet<> seen;
  for (const Function& function : kFunctions) {
    if (!seen.insert(function.name).second) continue;
    for (bool isDouble : {false, true}) {
      KernelRunner runner(program(function.name, isDouble ? "f64" : "f32", kSamples));
      ASSERT_TRUE(runner.ok());
      std::vector<Tensor> inputs = runner.makeInputs();
      double worst = 0, where = 0;
      for (int part = 0; part < 2; ++part) {
        for (int i = 0; i < kSamples; ++i) inputs[0].set(i, anyNumber(part * kSamples + i, isDouble));
        std::vector<Tensor> results = runner.run(inputs);
        for (int i = 0; i < kSamples; ++i) {
          double x = inputs[0].get(i), actual = results[0].get(i);

          long double exact = function.exact(x);
          double rounded = isDouble ? static_cast<double>(exact) : static_cast<float>(exact);
          if (std::isnan(rounded) || std::isinf(rounded)) {
            ASSERT_TRUE(std::isnan(rounded) ? std::isnan(actual) : actual == rounded)
                << function.name << (isDouble ? " f64" : " f32") << "(" << x << ") = " << actual << ", expected "
                << rounded;
            continue;
          }
          double error = ulpError(actual, exact, isDouble);
          if (!(error <= worst)) worst = error, where = x;
        }
      }
      EXPECT_LE(worst, 4) << function.name << (isDouble ? " f64" : " f32") << " at " << where;
    }
  }
}

TEST(SpecialValues, AsInC) {
  const double values[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 1e-40, -1e-40, 1e38, -1e38};
  constexpr int count = std::size(values);
  for (const Function& function : kFunctions) {
    std::string name = function.name;
    KernelRunner runner(program(name, "f32", count));
    ASSERT_TRUE(runner.ok());
    std::vector<Tensor> inputs = runner.makeInputs();
    for (int i = 0; i < count; ++i) inputs[0].set(i, values[i]);
    std::vector<Tensor> results = runner.run(inputs);
    for (int i = 0; i < count; ++i) {
      double x = inputs[0].get(i), actual = results[0].get(i);
      auto exact = static_cast<double>(static_cast<float>(function.exact(x)));
      if (std::isnan(exact))
        EXPECT_TRUE(std::isnan(actual)) << name << "(" << x << ") = " << actual;
      else if (std::isinf(exact) || exact == 0)
        EXPECT_EQ(actual, exact) << name << "(" << x << ")";
      else
        EXPECT_NEAR(actual, exact, 1e-6 * std::fabs(exact) + 1e-44) << name << "(" << x << ")";
    }
  }
}

TEST(Power, FewUlp) {
  for (const char* type : {"f32", "f64"}) {
    bool isDouble = StringRef(type) == "f64";
    std::string tensor = "tensor<" + std::to_string(kSamples) + "x" + type + ">";
    KernelRunner runner("func.func @f(%a: " + tensor + ", %b: " + tensor +
                        ") {\nfusion.cluster (%a, %b) {\n^bb0(%x: " + tensor + ", %y: " + tensor +
                        "):\n%0 = math.powf %x, %y : " + tensor + "\nfusion.yield %0 : " + tensor + "\n} : (" + tensor +
                        ", " + tensor + ") -> (" + tensor + ")\nreturn\n}\n");
    ASSERT_TRUE(runner.ok());
    std::vector<Tensor> inputs = runner.makeInputs();
    // Bases of any size with exponents that keep the power finite, most of them large.
    for (int i = 0; i < kSamples; ++i) {
      double base = std::fabs(anyNumber(i, isDouble)), limit = isDouble ? 708 : 87;
      if (!std::isfinite(base) || base == 0) base = 3;
      if (i % 2) base = 1 + (base > 1 ? 1 / base : base);
      inputs[0].set(i, base);
      double most = std::min(limit / std::fabs(std::log(inputs[0].get(i))), 1e12);
      inputs[1].set(i, most * std::cos(i));
    }
    std::vector<Tensor> results = runner.run(inputs);
    double worst = 0;
    int where = 0;
    for (int i = 0; i < kSamples; ++i) {
      double error = ulpError(results[0].get(i), powl(inputs[0].get(i), inputs[1].get(i)), isDouble);
      if (!(error <= worst)) worst = error, where = i;
    }
    EXPECT_LE(worst, isDouble ? 2.0 : 1.0) << type << " at " << inputs[0].get(where) << ", " << inputs[1].get(where);
  }
}

TEST(Power, SpecialCasesAndAccuracy) {
  std::string tensor = "tensor<196xf32>";
  KernelRunner runner(
      "func.func @f(%a: " + tensor + ", %b: " + tensor + ") {\nfusion.cluster (%a, %b) {\n^bb0(%x: " + tensor +
      ", %y: " + tensor + "):\n%0 = math.powf %x, %y : " + tensor + "\n%1 = arith.remf %x, %y : " + tensor +
      "\n%2 = math.atan2 %x, %y : " + tensor + "\nfusion.yield %0, %1, %2 : " + tensor + ", " + tensor + ", " + tensor +
      "\n} : (" + tensor + ", " + tensor + ") -> (" + tensor + ", " + tensor + ", " + tensor + ")\nreturn\n}\n");
  ASSERT_TRUE(runner.ok());
  const double values[] = {0.0, -0.0, 1, -1, 2, -2, 0.5, 3, -3.5, 1e30, INFINITY, -INFINITY, NAN, 0.999f};
  std::vector<Tensor> inputs = runner.makeInputs();
  for (int i = 0; i < 196; ++i) inputs[0].set(i, values[i / 14]), inputs[1].set(i, values[i % 14]);
  std::vector<Tensor> results = runner.run(inputs);
  for (int i = 0; i < 196; ++i) {
    float x = inputs[0].get(i), y = inputs[1].get(i);
    const float expected[] = {std::pow(x, y), std::fmod(x, y), std::atan2(x, y)};
    for (int which = 0; which < 3; ++which) {
      float actual = results[which].get(i);
      bool same = (std::isnan(actual) && std::isnan(expected[which])) || actual == expected[which] ||
                  std::fabs(actual - expected[which]) <= 4e-7 * std::fabs(expected[which]);
      EXPECT_TRUE(same) << which << " of " << x << ", " << y << ": " << actual << ", expected " << expected[which];
    }
  }
}

}  // namespace
