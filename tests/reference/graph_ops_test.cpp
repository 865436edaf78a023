// Structured ops of the graph level against values worked out by hand, at the corners where definitions are easily
// misread.
#include <cmath>

#include "tests/reference/evaluation.h"

namespace mlir::sgd::reference {
namespace {

using GraphOps = EvaluationTest;

const std::string kSix = "%a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>\n";
const std::string kFour = "%x = arith.constant dense<[3, -1, 2, -4]> : tensor<4xi32>\n";

TEST_F(GraphOps, BatchDimensionsOfDotGeneralComeFirst) {
  // Row i of a with row i of a, read backwards: one number per row.
  EXPECT_EQ(
      compute(kSix + "%b = sgd.reverse %a dimensions = [1] : tensor<2x3xf32>\n"
                     "%r = sgd.dot_general %a, %b batching = [0] x [0] contracting = [1] x [1] : tensor<2x3xf32>, "
                     "tensor<2x3xf32> -> tensor<2xf32>",
              "tensor<2xf32>")
          .floats,
      (Floats{10, 73}));
  // Nothing contracted: the outer product, lhs dimensions before rhs ones.
  EXPECT_EQ(
      compute("%a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
              "%b = arith.constant dense<[3.0, 5.0, 7.0]> : tensor<3xf32>\n"
              "%r = sgd.dot_general %a, %b batching = [] x [] contracting = [] x [] : tensor<2xf32>, tensor<3xf32> -> "
              "tensor<2x3xf32>",
              "tensor<2x3xf32>")
          .floats,
      (Floats{3, 5, 7, 6, 10, 14}));
}

TEST_F(GraphOps, ContractionOverNothingIsZero) {
  EXPECT_EQ(
      compute(
          "%a = arith.constant dense<1.0> : tensor<2x0xf32>\n%b = arith.constant dense<1.0> : tensor<0x1xf32>\n"
          "%r = sgd.dot_general %a, %b batching = [] x [] contracting = [1] x [0] : tensor<2x0xf32>, tensor<0x1xf32> "
          "-> tensor<2x1xf32>",
          "tensor<2x1xf32>")
          .floats,
      (Floats{0, 0}));
}

TEST_F(GraphOps, SumsOfHalfTypesAreRoundedOnce) {
  // In bf16, 256 + 1 is 256; summed in f32 and rounded once, 256 + 1 + 1 is 258.
  EXPECT_EQ(compute("%a = arith.constant dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>\n"
                    "%r = sgd.reduce add %a dimensions = [0] : tensor<3xbf16> -> tensor<bf16>",
                    "tensor<bf16>")
                .floats,
            (Floats{258}));
}

/// The convolution of 1 2 3 4 (one batch, one feature) with the window 1 10, under `options`.
std::string convolve(const std::string& options, int64_t size) {
  const std::string type = "tensor<1x" + std::to_string(size) + "x1x1xf32>";
  return "%v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
         "%a = sgd.reshape %v : tensor<4xf32> -> tensor<1x4x1x1xf32>\n"
         "%k = arith.constant dense<[1.0, 10.0]> : tensor<2xf32>\n"
         "%w = sgd.reshape %k : tensor<2xf32> -> tensor<2x1x1x1xf32>\n"
         "%c = sgd.convolution %a, %w " +
         options + " : tensor<1x4x1x1xf32>, tensor<2x1x1x1xf32> -> " + type + "\n%r = sgd.reshape %c : " + type +
         " -> tensor<" + std::to_string(size) + "xf32>";
}

TEST_F(GraphOps, ConvolutionWindows) {
  EXPECT_EQ(compute(convolve("strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1]", 3),
                    "tensor<3xf32>")
                .floats,
            (Floats{21, 32, 43}));  // not flipped
  EXPECT_EQ(compute(convolve("strides = [2] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1]", 3),
                    "tensor<3xf32>")
                .floats,
            (Floats{10, 32, 4}));
  EXPECT_EQ(compute(convolve("strides = [1] low = [0] high = [0] lhs_dilations = [2] rhs_dilations = [1]", 6),
                    "tensor<6xf32>")
                .floats,
            (Floats{1, 20, 2, 30, 3, 40}));  // 1 0 2 0 3 0 4
  EXPECT_EQ(compute(convolve("strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [2]", 2),
                    "tensor<2xf32>")
                .floats,
            (Floats{31, 42}));
  EXPECT_EQ(compute(convolve("strides = [1] low = [-1] high = [0] lhs_dilations = [1] rhs_dilations = [1]", 2),
                    "tensor<2xf32>")
                .floats,
            (Floats{32, 43}));  // the first element is removed
}

TEST_F(GraphOps, GroupsOfConvolutionStayApart) {
  // Two groups of one feature each; weights 10 and 100.
  EXPECT_EQ(
      compute(
          "%v = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
          "%a = sgd.reshape %v : tensor<2xf32> -> tensor<1x1x2x1xf32>\n"
          "%k = arith.constant dense<[10.0, 100.0]> : tensor<2xf32>\n"
          "%w = sgd.reshape %k : tensor<2xf32> -> tensor<1x2x1x1xf32>\n"
          "%c = sgd.convolution %a, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1] : "
          "tensor<1x1x2x1xf32>, tensor<1x2x1x1xf32> -> tensor<1x1x2x1xf32>\n"
          "%r = sgd.reshape %c : tensor<1x1x2x1xf32> -> tensor<2xf32>",
          "tensor<2xf32>")
          .floats,
      (Floats{10, 200}));
}

TEST_F(GraphOps, ReductionKinds) {
  auto reduce = [&](const std::string& kind) {
    return compute(kFour + "%r = sgd.reduce " + kind + " %x dimensions = [0] : tensor<4xi32> -> tensor<i32>",
                   "tensor<i32>")
        .integers.front();
  };
  EXPECT_EQ(reduce("add"), 0);
  EXPECT_EQ(reduce("mul"), 24);
  EXPECT_EQ(reduce("max"), 3);
  EXPECT_EQ(reduce("min"), -4);
  EXPECT_EQ(reduce("umax"), -1);
  EXPECT_EQ(reduce("umin"), 2);
  EXPECT_EQ(reduce("and"), 3 & -1 & 2 & -4);
  EXPECT_EQ(reduce("or"), -1);
  EXPECT_EQ(reduce("xor"), 3 ^ -1 ^ 2 ^ -4);
}

TEST_F(GraphOps, CumulativeInBothDirections) {
  EXPECT_EQ(compute(kFour + "%r = sgd.cumulative add %x dimension = 0 : tensor<4xi32>", "tensor<4xi32>").integers,
            (Integers{3, 2, 4, 0}));
  EXPECT_EQ(
      compute(kFour + "%r = sgd.cumulative max %x dimension = 0 reverse : tensor<4xi32>", "tensor<4xi32>").integers,
      (Integers{3, 2, 2, -4}));
}

TEST_F(GraphOps, SortIsStableAndMovesAllOperands) {
  const std::string body = R"(
    %k = arith.constant dense<[2, 1, 2, 1]> : tensor<4xi32>
    %i = sgd.iota dimension = 0 : tensor<4xi32>
    %s, %r = sgd.sort(%k, %i) dimension = 0 {
    ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
      %less = arith.cmpi slt, %a, %b : i32
      sgd.yield %less : i1
    } : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>))";
  EXPECT_EQ(compute(body, "tensor<4xi32>").integers, (Integers{1, 3, 0, 2}));
}

TEST_F(GraphOps, TopKTakesTheFirstOfEquals) {
  const std::string body =
      "%x = arith.constant dense<[1.0, 5.0, 5.0, 2.0]> : tensor<4xf32>\n"
      "%v, %r = sgd.top_k %x k = 3 : (tensor<4xf32>) -> (tensor<3xf32>, tensor<3xi32>)";
  EXPECT_EQ(compute(body, "tensor<3xi32>").integers, (Integers{1, 2, 3}));
}

TEST_F(GraphOps, DynamicUpdatesAreClampedIntoTheOperand) {
  const std::string body = kFour + R"(
    %u = arith.constant dense<[7, 8]> : tensor<2xi32>
    %i = arith.constant dense<3> : tensor<i32>
    %r = sgd.dynamic_update_slice %x, %u, %i : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>)";
  EXPECT_EQ(compute(body, "tensor<4xi32>").integers, (Integers{3, -1, 7, 8}));
}

TEST_F(GraphOps, PaddingMayRemoveElements) {
  EXPECT_EQ(compute(kFour + "%z = arith.constant dense<9> : tensor<i32>\n"
                            "%r = sgd.pad %x, %z low = [-1] high = [-2] interior = [1] : tensor<4xi32>, tensor<i32> -> "
                            "tensor<4xi32>",
                    "tensor<4xi32>")
                .integers,
            (Integers{9, -1, 9, 2}));  // of 3 9 -1 9 2 9 -4
}

TEST_F(GraphOps, ShiftsByTheWidthOrMore) {
  auto shift = [&](const std::string& op) {
    return compute(
               "%a = arith.constant dense<[-8, 5, 5]> : tensor<3xi8>\n"
               "%b = arith.constant dense<[8, 1, -1]> : tensor<3xi8>\n%r = sgd." +
                   op + " %a, %b : tensor<3xi8>",
               "tensor<3xi8>")
        .integers;
  };
  EXPECT_EQ(shift("shli"), (Integers{0, 10, 0}));
  EXPECT_EQ(shift("shrui"), (Integers{0, 2, 0}));
  EXPECT_EQ(shift("shrsi"), (Integers{-1, 2, 0}));
}

TEST_F(GraphOps, CountedLoopsCarryTheirValues) {
  // Fibonacci: both values move on at once.
  const std::string body = R"(
    %p = arith.constant dense<0> : tensor<i32>
    %q = arith.constant dense<1> : tensor<i32>
    %r, %s = sgd.while(%p, %q) trips 10 do {
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = arith.addi %a, %b : tensor<i32>
      sgd.yield %b, %c : tensor<i32>, tensor<i32>
    } : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>))";
  EXPECT_EQ(compute(body, "tensor<i32>").integers, (Integers{55}));
}

TEST_F(GraphOps, LoopsWithAConditionMayNotRunAtAll) {
  auto halvings = [&](const std::string& start) {
    return compute("%s = arith.constant dense<" + start + R"(> : tensor<i32>
      %z = arith.constant dense<0> : tensor<i32>
      %t, %r = sgd.while(%s, %z) while {
      ^bb0(%a: tensor<i32>, %n: tensor<i32>):
        %one = arith.constant dense<1> : tensor<i32>
        %more = arith.cmpi sgt, %a, %one : tensor<i32>
        sgd.yield %more : tensor<i1>
      } do {
      ^bb0(%a: tensor<i32>, %n: tensor<i32>):
        %one = arith.constant dense<1> : tensor<i32>
        %half = sgd.shrsi %a, %one : tensor<i32>
        %next = arith.addi %n, %one : tensor<i32>
        sgd.yield %half, %next : tensor<i32>, tensor<i32>
      } : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>))",
                   "tensor<i32>")
        .integers.front();
  };
  EXPECT_EQ(halvings("40"), 5);
  EXPECT_EQ(halvings("1"), 0);
}

TEST_F(GraphOps, AnIndexWithoutABranchTakesTheLast) {
  auto branch = [&](const std::string& index) {
    return compute("%i = arith.constant dense<" + index + R"(> : tensor<i32>
      %x = arith.constant dense<10> : tensor<i32>
      %r = sgd.case %i(%x) {
      ^bb0(%a: tensor<i32>):
        sgd.yield %a : tensor<i32>
      }, {
      ^bb0(%a: tensor<i32>):
        %b = arith.addi %a, %a : tensor<i32>
        sgd.yield %b : tensor<i32>
      } : (tensor<i32>, tensor<i32>) -> tensor<i32>)",
                   "tensor<i32>")
        .integers.front();
  };
  EXPECT_EQ(branch("0"), 10);
  EXPECT_EQ(branch("1"), 20);
  EXPECT_EQ(branch("7"), 20);
  EXPECT_EQ(branch("-1"), 20);
}

TEST_F(GraphOps, ScattersCombineByKind) {
  auto scatter = [&](const std::string& kind) {
    return compute(R"(%t = arith.constant dense<[10, 20]> : tensor<2xi32>
      %i = arith.constant dense<[[1], [1], [-1]]> : tensor<3x1xi32>
      %u = arith.constant dense<[3, 50, 9]> : tensor<3xi32>
      %r = sgd.scatter )" +
                       kind + R"( %t, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>,
        input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
        index_vector_dim = 1 : i64} : (tensor<2xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<2xi32>)",
                   "tensor<2xi32>")
        .integers;
  };
  EXPECT_EQ(scatter("set"), (Integers{10, 50}));  // the later update wins
  EXPECT_EQ(scatter("mul"), (Integers{10, 3000}));
  EXPECT_EQ(scatter("max"), (Integers{10, 50}));
  EXPECT_EQ(scatter("min"), (Integers{10, 3}));
}

}  // namespace
}  // namespace mlir::sgd::reference
