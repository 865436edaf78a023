// Floats of 8 bits in compiled kernels: every code, and everything around the middle between two of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/targets/kernels/kernel_check.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

constexpr const char* kFormats[] = {"f8E4M3FN", "f8E5M2"};

/// The values of a format in increasing order from 0, the first one beyond its range last; worked out from the bits.
std::vector<double> magnitudes(const std::string& format) {
  const bool hasInfinity = format == "f8E5M2";
  const int mantissa = hasInfinity ? 2 : 3, bias = hasInfinity ? 15 : 7, last = hasInfinity ? 0x7b : 0x7e;
  std::vector<double> values;
  for (int code = 0; code <= last + 1; ++code) {
    int exponent = code >> mantissa, fraction = code & ((1 << mantissa) - 1);
    int significand = exponent == 0 ? fraction : fraction + (1 << mantissa);
    values.push_back(std::ldexp(significand, std::max(exponent, 1) - bias - mantissa));
  }
  return values;
}

/// To nearest, ties to the even code; beyond the range NaN or infinity.
double nearest(const std::string& format, double x) {
  const std::vector<double> values = magnitudes(format);
  if (std::isnan(x)) return x;
  // Distances of numbers far beyond are equal in f64.
  const bool isBeyond = std::abs(x) >= values.back();
  size_t best = isBeyond ? values.size() - 1 : 0;
  for (size_t code = 1; code < values.size() && !isBeyond; ++code) {
    double distance = std::abs(values[code] - std::abs(x)), least = std::abs(values[best] - std::abs(x));
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  double result = best + 1 < values.size() ? values[best] : format == "f8E5M2" ? INFINITY : NAN;
  return std::copysign(result, x);
}

/// Numbers around each value and around each middle between two neighbours, and far away, of both signs.
std::vector<double> difficultNumbers(const std::string& format, const std::string& type) {
  std::vector<double> numbers = {INFINITY, NAN, 1e30, 1e-30, 1e-40, 3e38, 480, 464.5, 61440, 61441, 65536};
  auto add = [&](double value) {
    for (double other : {value, type == "f64" ? std::nextafter(value, 0) : std::nextafterf(value, 0),
                         type == "f64" ? std::nextafter(value, 1e9) : std::nextafterf(value, 1e9)})
      numbers.push_back(other);
  };
  const std::vector<double> values = magnitudes(format);
  for (size_t code = 0; code + 1 < values.size(); ++code) {
    add(values[code]);
    add((values[code] + values[code + 1]) / 2);
  }
  for (size_t i = numbers.size(); i-- > 0;) numbers.push_back(-numbers[i]);
  return numbers;
}

void expectSame(double actual, double expected, double input) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(actual)) << input << " became " << actual;
  else
    EXPECT_TRUE(actual == expected && std::signbit(actual) == std::signbit(expected))
        << input << " became " << actual << " instead of " << expected;
}

/// A kernel that converts a vector.
std::string conversion(const std::string& op, int size, const std::string& from, const std::string& to) {
  std::string in = shape({size}, from), out = shape({size}, to);
  return cluster(in, out, "%x: " + in, "%0 = " + op + " %x : " + in + " to " + out + "\nfusion.yield %0 : " + out);
}

TEST(Float8, RoundsToNearest) {
  for (std::string format : kFormats)
    for (std::string type : {"f32", "f64"}) {
      const std::vector<double> numbers = difficultNumbers(format, type);
      const int size = static_cast<int>(numbers.size());
      for (StringRef variant : CompiledKernels::variants()) {
        KernelRunner runner(conversion("arith.truncf", size, type, format), variant);
        ASSERT_TRUE(runner.ok());
        std::vector<Tensor> inputs = runner.makeInputs();
        for (int i = 0; i < size; ++i) inputs[0].set(i, numbers[i]);
        Tensor result = runner.run(inputs)[0];
        for (int i = 0; i < size; ++i) expectSame(result.get(i), nearest(format, inputs[0].get(i)), numbers[i]);
      }
    }
}

TEST(Float8, HoldsItsOwnValues) {
  for (std::string format : kFormats)
    for (std::string type : {"f32", "f64", "f16", "bf16"}) {
      const std::vector<double> values = magnitudes(format);
      KernelRunner runner(conversion("arith.extf", 256, format, type));
      ASSERT_TRUE(runner.ok());
      std::vector<Tensor> inputs = runner.makeInputs();
      for (int code = 0; code < 256; ++code) inputs[0].bytes[code] = static_cast<char>(code);
      Tensor result = runner.run(inputs)[0];
      for (int code = 0; code < 256; ++code) {
        const size_t magnitude = code & 0x7f;
        double expected = magnitude + 1 < values.size()                          ? values[magnitude]
                          : format == "f8E5M2" && magnitude + 1 == values.size() ? INFINITY
                                                                                 : NAN;
        expectSame(result.get(code), code & 0x80 ? -expected : expected, code);
      }
    }
}

TEST(Float8, BytesStayThroughMoves) {
  for (std::string format : kFormats) {
    std::string type = shape({16, 16}, format);
    KernelRunner runner(cluster(type, type, "%x: " + type,
                                "%0 = sgd.transpose %x permutation = [1, 0] : " + type + " -> " + type +
                                    "\n%1 = arith.negf %0 : " + type + "\nfusion.yield %1 : " + type));
    ASSERT_TRUE(runner.ok());
    std::vector<Tensor> inputs = runner.makeInputs();
    for (int code = 0; code < 256; ++code) inputs[0].bytes[code] = static_cast<char>(code);
    Tensor result = runner.run(inputs)[0];
    for (int code = 0; code < 256; ++code) {
      if (std::isnan(inputs[0].get(code))) continue;
      EXPECT_EQ(static_cast<uint8_t>(result.bytes[code % 16 * 16 + code / 16]), code ^ 0x80) << format;
    }
  }
}

TEST(Float8, EachOpRounds) {
  for (std::string format : kFormats)
    for (const char* op : {"arith.mulf", "arith.divf"}) {
      std::string type = shape({300}, format);
      check(cluster(type + "; " + type, type, "%x: " + type + ", %y: " + type,
                    std::string("%0 = ") + op + " %x, %y : " + type + "\n%1 = arith.addf %0, %y : " + type +
                        "\nfusion.yield %1 : " + type),
            0, [](std::vector<Tensor>& inputs) { inputs[0].fill(-20, 20, 1), inputs[1].fill(-6, 6, 2); });
      if (HasFatalFailure()) return;
    }
}

TEST(Float8, Bitcasts) {
  for (std::string format : kFormats) {
    std::string in = shape({256}, format), out = shape({256}, "i8");
    check(cluster(in, out + "; " + out, "%x: " + in,
                  "%0 = arith.bitcast %x : " + in + " to " + out + "\n%1 = arith.negf %x : " + in +
                      "\n%2 = arith.bitcast %1 : " + in + " to " + out + "\nfusion.yield %0, %2 : " + out + ", " + out),
          0, [](std::vector<Tensor>& inputs) { inputs[0].fill(-6, 6, 3); });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
