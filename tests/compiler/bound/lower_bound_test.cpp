// The bound of small programs whose least communication is known, through the whole compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/driver/driver.h"

namespace mlir::sgd {
namespace {

Report compileReport(const std::string& arguments, const std::string& result, const std::string& body,
                     const std::string& mesh = "\"x\"=4") {
  std::string text =
      "sgd.mesh @mesh = <[" + mesh + "]>\nfunc.func @main(" + arguments + ") -> " + result + " {\n" + body + "}\n";
  CompileOptions options;
  options.writeArtifact = false;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  FailureOr<Compilation> compilation = compile({{"main", "step.mlir", text}}, options, stream);
  EXPECT_TRUE(succeeded(compilation)) << errors;
  return succeeded(compilation) ? compilation->report : Report();
}

std::string sharded(const std::string& type, const std::string& dims) {
  return type + " {sgd.sharding = #sgd.sharding<@mesh, [" + dims + "]>}";
}

/// The gradient of a weight from a sharded batch of `rows` rows, wanted whole on every rank.
Report compileGradient(int rows) {
  std::string n = std::to_string(rows);
  std::string x = "tensor<" + n + "x16xf32>", g = "tensor<" + n + "x8xf32>";
  return compileReport("%x: " + sharded(x, "{\"x\"}, {}") + ", %g: " + sharded(g, "{\"x\"}, {}"),
                       "(" + sharded("tensor<16x8xf32>", "{}, {}") + ")",
                       "%0 = sgd.dot_general %x, %g batching = [] x [] contracting = [0] x [0] : " + x + ", " + g +
                           " -> tensor<16x8xf32>\nreturn %0 : tensor<16x8xf32>\n");
}

TEST(LowerBound, AGradientOfManyRowsNeedsItsAllReduce) {
  Report report = compileGradient(1024);
  EXPECT_EQ(report.sentBytes, 2 * 16 * 8 * 4 * 3 / 4);
  EXPECT_EQ(report.lowerBound.bytes, report.sentBytes);
  EXPECT_TRUE(report.gaps.empty());
}

TEST(LowerBound, AGradientOfFewRowsCouldGatherThem) {
  Report report = compileGradient(4);
  EXPECT_LT(report.lowerBound.bytes, report.sentBytes);
  ASSERT_EQ(report.gaps.size(), 1u);
  EXPECT_THAT(report.gaps[0].reason, ::testing::HasSubstr("from sgd.dot_general at step.mlir:3"));
  EXPECT_LT(report.gaps[0].bytes, report.sentBytes);
}

TEST(LowerBound, SumsThatAreAddedAreSentOnce) {
  std::string type = "tensor<1024x16xf32>", sum = "tensor<16x16xf32>";
  Report report = compileReport(
      "%x: " + sharded(type, "{\"x\"}, {}") + ", %y: " + sharded(type, "{\"x\"}, {}"),
      "(" + sharded(sum, "{\"x\"}, {}") + ")",
      "%0 = sgd.dot_general %x, %x batching = [] x [] contracting = [0] x [0] : " + type + ", " + type + " -> " + sum +
          "\n%1 = sgd.dot_general %y, %y batching = [] x [] contracting = [0] x [0] : " + type + ", " + type + " -> " +
          sum + "\n%2 = arith.addf %0, %1 : " + sum + "\nreturn %2 : " + sum + "\n");
  EXPECT_EQ(report.sentBytes, 16 * 16 * 4 * 3 / 4);
  EXPECT_EQ(report.lowerBound.bytes, report.sentBytes);
}

/// The low bits of a sum are a sum of low bits, since integers wrap: no program need send the others. Wider bits are
/// not.
TEST(LowerBound, SumsOfIntegersMayBeSentAfterTheyAreNarrowed) {
  std::string x = "tensor<1024x16xi32>", sum = "tensor<16x16xi32>";
  for (auto [op, element, bytes] : {std::tuple("trunci", "i16", 2), std::tuple("extsi", "i64", 4)}) {
    std::string type = std::string("tensor<16x16x") + element + ">";
    Report report = compileReport("%x: " + sharded(x, "{\"x\"}, {}"), "(" + sharded(type, "{}, {}") + ")",
                                  "%0 = sgd.dot_general %x, %x batching = [] x [] contracting = [0] x [0] : " + x +
                                      ", " + x + " -> " + sum + "\n%1 = arith." + op + " %0 : " + sum + " to " + type +
                                      "\nreturn %1 : " + type + "\n");
    EXPECT_EQ(report.lowerBound.bytes, static_cast<uint64_t>(2 * 16 * 16 * bytes * 3 / 4)) << op;
    EXPECT_EQ(report.sentBytes, report.lowerBound.bytes) << op;
  }
}

TEST(LowerBound, ACopyOfAnArgumentIsReceivedOnce) {
  std::string type = "tensor<64x16xf32>";
  Report report = compileReport("%w: " + sharded(type, "{\"x\"}, {}"),
                                "(" + sharded(type, "{}, {}") + ", " + sharded(type, "{}, {}") + ")",
                                "%0 = math.exp %w : " + type + "\nreturn %w, %0 : " + type + ", " + type + "\n");
  EXPECT_EQ(report.lowerBound.bytes, 64 * 16 * 4 * 3 / 4);
  ASSERT_EQ(report.lowerBound.terms.size(), 1u);
  EXPECT_EQ(report.lowerBound.terms[0].what, "copies of argument 0");
  EXPECT_EQ(report.lowerBound.terms[0].type, "tensor<64x16xf32>");
}

TEST(LowerBound, MatmulsThatEveryRankComputesNeedNothing) {
  std::string type = "tensor<16x16xf32>";
  Report report = compileReport("%x: " + sharded(type, "{}, {}"), "(" + sharded(type, "{}, {}") + ")",
                                "%0 = sgd.dot_general %x, %x batching = [] x [] contracting = [1] x [0] : " + type +
                                    ", " + type + " -> " + type + "\nreturn %0 : " + type + "\n");
  EXPECT_EQ(report.sentBytes, 0u);
  EXPECT_EQ(report.lowerBound.bytes, 0u);
}

/// Gradients of two layers, one after the other put into a stack that every rank wants whole.
TEST(LowerBound, GradientsInAStackNeedTheirAllReduce) {
  std::string x = "tensor<1024x16xf32>", one = "tensor<1x16x16xf32>", stack = "tensor<2x16x16xf32>";
  std::string body =
      "%zero = arith.constant dense<0> : tensor<i32>\n%one = arith.constant dense<1> : tensor<i32>\n"
      "%s0 = arith.constant dense<0.0> : " +
      stack + "\n";
  for (std::string layer : {"0", "1"}) {
    std::string argument = layer == "0" ? "%x" : "%y", next = layer == "0" ? "1" : "2";
    body += "%p" + layer + " = sgd.dot_general " + argument + ", " + argument +
            " batching = [] x [] contracting = [0] x [0] : " + x + ", " + x + " -> tensor<16x16xf32>\n%r" + layer +
            " = sgd.reshape %p" + layer + " : tensor<16x16xf32> -> " + one + "\n%s" + next +
            " = sgd.dynamic_update_slice %s" + layer + ", %r" + layer + (layer == "0" ? ", %zero" : ", %one") +
            ", %zero, %zero : (" + stack + ", " + one + ", tensor<i32>, tensor<i32>, tensor<i32>) -> " + stack + "\n";
  }
  Report report = compileReport("%x: " + sharded(x, "{\"x\"}, {}") + ", %y: " + sharded(x, "{\"x\"}, {}"),
                                "(" + sharded(stack, "{}, {}, {}") + ")",
                                body + "%e = math.exp %s2 : " + stack + "\nreturn %e : " + stack + "\n");
  EXPECT_EQ(report.sentBytes, 2 * 2 * 16 * 16 * 4 * 3 / 4);
  EXPECT_EQ(report.lowerBound.bytes, report.sentBytes);
}

/// The square of a sum over a sharded dimension, of which `read` reads a part.
Report compileReadOfSum(const std::string& result, const std::string& read) {
  std::string x = "tensor<4x1024xf32>", sum = "tensor<4x4xf32>";
  return compileReport("%x: " + sharded(x, "{}, {\"x\"}"), "(" + sharded(result, "{}, {}") + ")",
                       "%0 = sgd.dot_general %x, %x batching = [] x [] contracting = [1] x [1] : " + x + ", " + x +
                           " -> " + sum + "\n%1 = math.exp %0 : " + sum + "\n" + read + "return %r : " + result + "\n");
}

TEST(LowerBound, WhatNobodyReadsNeedNotBeKnown) {
  std::string read = "%r = sgd.slice %1 starts = [0, 0] limits = [1, 1] strides = [1, 1] : tensor<4x4xf32> -> ";
  EXPECT_EQ(compileReadOfSum("tensor<1x1xf32>", read + "tensor<1x1xf32>\n").lowerBound.bytes, 0u);
  std::string type = "tensor<2x4xf32>";
  Report halves = compileReadOfSum(
      type, "%a = sgd.slice %1 starts = [0, 0] limits = [2, 4] strides = [1, 1] : tensor<4x4xf32> -> " + type +
                "\n%b = sgd.slice %1 starts = [2, 0] limits = [4, 4] strides = [1, 1] : tensor<4x4xf32> -> " + type +
                "\n%r = arith.mulf %a, %b : " + type + "\n");
  EXPECT_EQ(halves.lowerBound.bytes, 4 * 4 * 4 * 3 / 4);  // the sum itself
}

TEST(LowerBound, ASliceOfAnArgumentIsAnArgument) {
  std::string stack = "tensor<2x64x16xf32>", one = "tensor<1x64x16xf32>", w = "tensor<64x16xf32>";
  Report report = compileReport(
      "%w: " + sharded(stack, "{}, {\"x\"}, {}") + ", %x: " + sharded("tensor<4096x64xf32>", "{\"x\"}, {}"),
      "(" + sharded("tensor<4096x16xf32>", "{\"x\"}, {}") + ")",
      "%0 = sgd.slice %w starts = [1, 0, 0] limits = [2, 64, 16] strides = [1, 1, 1] : " + stack + " -> " + one +
          "\n%1 = sgd.reshape %0 : " + one + " -> " + w +
          "\n%2 = sgd.dot_general %x, %1 batching = [] x [] contracting = [1] x [0] : tensor<4096x64xf32>, " + w +
          " -> tensor<4096x16xf32>\nreturn %2 : tensor<4096x16xf32>\n");
  EXPECT_EQ(report.sentBytes, 64 * 16 * 4 * 3 / 4);
  EXPECT_EQ(report.lowerBound.bytes, report.sentBytes);
}

}  // namespace
}  // namespace mlir::sgd
