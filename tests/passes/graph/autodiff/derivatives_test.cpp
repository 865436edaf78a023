// Each derivative rule against central differences of the reference evaluator, in f64.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/graph/autodiff/derivative_rule.h"
#include "passes/graph/autodiff/passes.h"
#include "reference/evaluate.h"

namespace mlir::sgd {
namespace {

/// Ops over %a, %b [3, 4] between -2 and 2, %p [3, 4] between 1/2 and 2, %v [4], %m [4, 5], with one zero in a row and
/// two in another, %x [2, 6, 5, 2, 3], which is images in 2 groups of 3 features, and %i [3], integers from -1 to 5.
struct Body {
  const char* name;
  const char* ops;   // the last value is %0
  const char* type;  // of %0
};

const Body kBodies[] = {
    {"Add", "%0 = arith.addf %a, %b : tensor<3x4xf64>", "3x4"},
    {"Subtract", "%0 = arith.subf %a, %b : tensor<3x4xf64>", "3x4"},
    {"Multiply", "%0 = arith.mulf %a, %b : tensor<3x4xf64>", "3x4"},
    {"Square", "%0 = arith.mulf %a, %a : tensor<3x4xf64>", "3x4"},
    {"Divide", "%0 = arith.divf %a, %p : tensor<3x4xf64>", "3x4"},
    {"Remainder", "%0 = arith.remf %a, %p : tensor<3x4xf64>", "3x4"},
    {"Negate", "%0 = arith.negf %a : tensor<3x4xf64>", "3x4"},
    {"Maximum", "%0 = arith.maximumf %a, %b : tensor<3x4xf64>", "3x4"},
    {"Minimum", "%0 = arith.minimumf %a, %b : tensor<3x4xf64>", "3x4"},
    {"MaximumOfNumbers", "%0 = arith.maxnumf %a, %b : tensor<3x4xf64>", "3x4"},
    {"MinimumOfNumbers", "%0 = arith.minnumf %a, %b : tensor<3x4xf64>", "3x4"},
    {"Select", R"(%c = arith.cmpf olt, %a, %b : tensor<3x4xf64>
      %d = arith.mulf %a, %b : tensor<3x4xf64>
      %0 = arith.select %c, %d, %b : tensor<3x4xi1>, tensor<3x4xf64>)",
     "3x4"},
    {"Power", "%0 = math.powf %p, %a : tensor<3x4xf64>", "3x4"},
    {"Atan2", "%0 = math.atan2 %a, %b : tensor<3x4xf64>", "3x4"},
    {"CopySign", "%0 = math.copysign %a, %b : tensor<3x4xf64>", "3x4"},
    {"Widen", R"(%c = arith.truncf %a : tensor<3x4xf64> to tensor<3x4xf32>
      %d = arith.extf %c : tensor<3x4xf32> to tensor<3x4xf64>
      %0 = arith.addf %d, %b : tensor<3x4xf64>)",
     "3x4"},
    {"Flat", R"(%c = math.floor %a : tensor<3x4xf64>
      %0 = arith.mulf %c, %b : tensor<3x4xf64>)",
     "3x4"},
    {"Constant", R"(%c = math.exp %a {sgd.no_gradient} : tensor<3x4xf64>
      %d = arith.subf %c, %c : tensor<3x4xf64>
      %0 = arith.addf %d, %b : tensor<3x4xf64>)",
     "3x4"},
    {"Abs", "%0 = math.absf %a : tensor<3x4xf64>", "3x4"},
    {"Exp", "%0 = math.exp %a : tensor<3x4xf64>", "3x4"},
    {"Exp2", "%0 = math.exp2 %a : tensor<3x4xf64>", "3x4"},
    {"ExpM1", "%0 = math.expm1 %a : tensor<3x4xf64>", "3x4"},
    {"Log", "%0 = math.log %p : tensor<3x4xf64>", "3x4"},
    {"Log2", "%0 = math.log2 %p : tensor<3x4xf64>", "3x4"},
    {"Log10", "%0 = math.log10 %p : tensor<3x4xf64>", "3x4"},
    {"Log1p", "%0 = math.log1p %p : tensor<3x4xf64>", "3x4"},
    {"Sqrt", "%0 = math.sqrt %p : tensor<3x4xf64>", "3x4"},
    {"Rsqrt", "%0 = math.rsqrt %p : tensor<3x4xf64>", "3x4"},
    {"Cbrt", "%0 = math.cbrt %p : tensor<3x4xf64>", "3x4"},
    {"Tanh", "%0 = math.tanh %a : tensor<3x4xf64>", "3x4"},
    {"Erf", "%0 = math.erf %a : tensor<3x4xf64>", "3x4"},
    {"Erfc", "%0 = math.erfc %a : tensor<3x4xf64>", "3x4"},
    {"Sin", "%0 = math.sin %a : tensor<3x4xf64>", "3x4"},
    {"Cos", "%0 = math.cos %a : tensor<3x4xf64>", "3x4"},
    {"Tan", "%0 = math.tan %v : tensor<4xf64>", "4"},
    {"Sinh", "%0 = math.sinh %a : tensor<3x4xf64>", "3x4"},
    {"Cosh", "%0 = math.cosh %a : tensor<3x4xf64>", "3x4"},
    {"Asin", R"(%c = math.tanh %a : tensor<3x4xf64>
      %0 = math.asin %c : tensor<3x4xf64>)",
     "3x4"},
    {"Acos", R"(%c = math.tanh %a : tensor<3x4xf64>
      %0 = math.acos %c : tensor<3x4xf64>)",
     "3x4"},
    {"Atan", "%0 = math.atan %a : tensor<3x4xf64>", "3x4"},
    {"Asinh", "%0 = math.asinh %a : tensor<3x4xf64>", "3x4"},
    {"Acosh", R"(%one = arith.constant dense<1.0> : tensor<3x4xf64>
      %c = arith.addf %p, %one : tensor<3x4xf64>
      %0 = math.acosh %c : tensor<3x4xf64>)",
     "3x4"},
    {"Atanh", R"(%c = math.tanh %a : tensor<3x4xf64>
      %0 = math.atanh %c : tensor<3x4xf64>)",
     "3x4"},

    {"Broadcast", "%0 = sgd.broadcast_in_dim %v dims = [1] : tensor<4xf64> -> tensor<3x4xf64>", "3x4"},
    {"BroadcastInOtherOrder", "%0 = sgd.broadcast_in_dim %a dims = [2, 0] : tensor<3x4xf64> -> tensor<4x2x3xf64>",
     "4x2x3"},
    {"BroadcastOfOne", R"(%c = sgd.reshape %v : tensor<4xf64> -> tensor<4x1xf64>
      %0 = sgd.broadcast_in_dim %c dims = [0, 1] : tensor<4x1xf64> -> tensor<4x3xf64>)",
     "4x3"},
    {"Transpose",
     "%0 = sgd.transpose %x permutation = [2, 0, 4, 1, 3] : tensor<2x6x5x2x3xf64> -> tensor<5x2x3x6x2xf64>",
     "5x2x3x6x2"},
    {"Reshape", "%0 = sgd.reshape %a : tensor<3x4xf64> -> tensor<2x6xf64>", "2x6"},
    {"Slice", "%0 = sgd.slice %a starts = [1, 0] limits = [3, 4] strides = [1, 3] : tensor<3x4xf64> -> tensor<2x2xf64>",
     "2x2"},
    {"Pad", R"(%s = sgd.reduce add %v dimensions = [0] : tensor<4xf64> -> tensor<f64>
      %0 = sgd.pad %a, %s low = [1, -1] high = [0, 2] interior = [2, 0] : tensor<3x4xf64>, tensor<f64> -> tensor<8x5xf64>)",
     "8x5"},
    {"PadThatCutsBetween", R"(%s = sgd.reduce add %v dimensions = [0] : tensor<4xf64> -> tensor<f64>
      %0 = sgd.pad %a, %s low = [-2, 1] high = [-1, 0] interior = [2, 1] : tensor<3x4xf64>, tensor<f64> -> tensor<4x8xf64>)",
     "4x8"},
    {"Concatenate", R"(%0 = sgd.concatenate %a, %b, %a dimension = 1
      : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x12xf64>)",
     "3x12"},
    {"Reverse", "%0 = sgd.reverse %a dimensions = [1] : tensor<3x4xf64>", "3x4"},
    {"Barrier",
     R"(%c:2 = sgd.optimization_barrier %a, %b : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %0 = arith.mulf %c#0, %c#1 : tensor<3x4xf64>)",
     "3x4"},

    {"Matmul", R"(%0 = sgd.dot_general %a, %m batching = [] x [] contracting = [1] x [0]
      : tensor<3x4xf64>, tensor<4x5xf64> -> tensor<3x5xf64>)",
     "3x5"},
    {"MatmulOfTransposed", R"(%0 = sgd.dot_general %a, %b batching = [] x [] contracting = [0] x [0]
      : tensor<3x4xf64>, tensor<3x4xf64> -> tensor<4x4xf64>)",
     "4x4"},
    {"BatchedMatmul", R"(%0 = sgd.dot_general %x, %x batching = [3, 0] x [3, 0] contracting = [4, 2] x [4, 2]
      : tensor<2x6x5x2x3xf64>, tensor<2x6x5x2x3xf64> -> tensor<2x2x6x6xf64>)",
     "2x2x6x6"},
    {"ContractionInOtherOrder",
     R"(%c = sgd.transpose %x permutation = [4, 1, 3, 2, 0] : tensor<2x6x5x2x3xf64> -> tensor<3x6x2x5x2xf64>
      %0 = sgd.dot_general %x, %c batching = [0] x [4] contracting = [4, 2] x [0, 3]
      : tensor<2x6x5x2x3xf64>, tensor<3x6x2x5x2xf64> -> tensor<2x6x2x6x2xf64>)",
     "2x6x2x6x2"},
    {"Convolution", R"(%k = sgd.slice %x starts = [0, 0, 0, 0, 0] limits = [2, 3, 2, 2, 3] strides = [1, 1, 1, 1, 1]
        : tensor<2x6x5x2x3xf64> -> tensor<2x3x2x2x3xf64>
      %l = sgd.transpose %k permutation = [1, 0, 3, 4, 2] : tensor<2x3x2x2x3xf64> -> tensor<3x2x2x3x2xf64>
      %0 = sgd.convolution %x, %l strides = [1, 1] low = [1, 0] high = [1, 1] lhs_dilations = [1, 1] rhs_dilations = [1, 1]
        : tensor<2x6x5x2x3xf64>, tensor<3x2x2x3x2xf64> -> tensor<2x6x5x2x2xf64>)",
     "2x6x5x2x2"},
    {"ConvolutionWithAllWindows",
     R"(%k = sgd.slice %x starts = [0, 0, 0, 0, 0] limits = [2, 3, 2, 2, 3] strides = [1, 1, 1, 1, 1]
        : tensor<2x6x5x2x3xf64> -> tensor<2x3x2x2x3xf64>
      %l = sgd.transpose %k permutation = [1, 0, 3, 4, 2] : tensor<2x3x2x2x3xf64> -> tensor<3x2x2x3x2xf64>
      %0 = sgd.convolution %x, %l strides = [2, 3] low = [2, -1] high = [1, 2] lhs_dilations = [2, 1] rhs_dilations = [1, 2]
        : tensor<2x6x5x2x3xf64>, tensor<3x2x2x3x2xf64> -> tensor<2x6x2x2x2xf64>)",
     "2x6x2x2x2"},
    {"GroupedMatmul", R"(%rows = arith.constant dense<[0, 0, 2]> : tensor<3xi32>
      %groups = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
      %w = sgd.broadcast_in_dim %m dims = [1, 2] : tensor<4x5xf64> -> tensor<3x4x5xf64>
      %e = math.sin %w : tensor<3x4x5xf64>
      %0 = sgd.grouped_dot %a, %e rows = %rows groups = %groups
        : (tensor<3x4xf64>, tensor<3x4x5xf64>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x5xf64>)",
     "3x5"},
    {"ReduceAdd", "%0 = sgd.reduce add %x dimensions = [1, 3] : tensor<2x6x5x2x3xf64> -> tensor<2x5x3xf64>", "2x5x3"},
    {"ReduceMax", "%0 = sgd.reduce max %x dimensions = [1, 4] : tensor<2x6x5x2x3xf64> -> tensor<2x5x2xf64>", "2x5x2"},
    {"ReduceMin", "%0 = sgd.reduce min %a dimensions = [0] : tensor<3x4xf64> -> tensor<4xf64>", "4"},
    {"ReduceMul", "%0 = sgd.reduce mul %x dimensions = [0, 3] : tensor<2x6x5x2x3xf64> -> tensor<6x5x3xf64>", "6x5x3"},
    {"ReduceMulWithZeros", "%0 = sgd.reduce mul %m dimensions = [1] : tensor<4x5xf64> -> tensor<4xf64>", "4"},

    {"DynamicSlice", R"(%r = sgd.slice %i starts = [0] limits = [1] strides = [1] : tensor<3xi32> -> tensor<1xi32>
      %j = sgd.reshape %r : tensor<1xi32> -> tensor<i32>
      %c = sgd.dynamic_slice %a, %j, %j sizes = [2, 3] : (tensor<3x4xf64>, tensor<i32>, tensor<i32>) -> tensor<2x3xf64>
      %d = sgd.slice %a starts = [0, 0] limits = [2, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<2x3xf64>
      %0 = arith.mulf %c, %d : tensor<2x3xf64>)",
     "2x3"},
    {"DynamicUpdateSlice", R"(%r = sgd.slice %i starts = [1] limits = [2] strides = [1] : tensor<3xi32> -> tensor<1xi32>
      %j = sgd.reshape %r : tensor<1xi32> -> tensor<i32>
      %c = sgd.slice %b starts = [0, 0] limits = [2, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<2x3xf64>
      %0 = sgd.dynamic_update_slice %a, %c, %j, %j : (tensor<3x4xf64>, tensor<2x3xf64>, tensor<i32>, tensor<i32>) -> tensor<3x4xf64>)",
     "3x4"},
    {"Gather", R"(%0 = sgd.gather %m, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
        operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>,
        index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 5>} : (tensor<4x5xf64>, tensor<3xi32>) -> tensor<3x5xf64>)",
     "3x5"},
    {"GatherOfWindows", R"(%c = sgd.broadcast_in_dim %i dims = [0] : tensor<3xi32> -> tensor<3x2xi32>
      %0 = sgd.gather %m, %c {offset_dims = array<i64: 1, 2>, collapsed_slice_dims = array<i64>,
        operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 1, 0>,
        index_vector_dim = 1 : i64, slice_sizes = array<i64: 2, 3>} : (tensor<4x5xf64>, tensor<3x2xi32>) -> tensor<3x2x3xf64>)",
     "3x2x3"},
    {"ScatterAdd", R"(%c = sgd.dot_general %a, %m batching = [] x [] contracting = [1] x [0]
        : tensor<3x4xf64>, tensor<4x5xf64> -> tensor<3x5xf64>
      %0 = sgd.scatter add %m, %i, %c {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
        input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
        index_vector_dim = 1 : i64} : (tensor<4x5xf64>, tensor<3xi32>, tensor<3x5xf64>) -> tensor<4x5xf64>)",
     "4x5"},
    {"ScatterSet", R"(%c = sgd.dot_general %a, %m batching = [] x [] contracting = [1] x [0]
        : tensor<3x4xf64>, tensor<4x5xf64> -> tensor<3x5xf64>
      %z = arith.constant dense<[2, 5, 2]> : tensor<3xi32>
      %0 = sgd.scatter set %m, %z, %c {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
        input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
        index_vector_dim = 1 : i64} : (tensor<4x5xf64>, tensor<3xi32>, tensor<3x5xf64>) -> tensor<4x5xf64>)",
     "4x5"},
    {"ScatterMax", R"(%c = sgd.dot_general %a, %m batching = [] x [] contracting = [1] x [0]
        : tensor<3x4xf64>, tensor<4x5xf64> -> tensor<3x5xf64>
      %0 = sgd.scatter max %m, %i, %c {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
        input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
        index_vector_dim = 1 : i64} : (tensor<4x5xf64>, tensor<3xi32>, tensor<3x5xf64>) -> tensor<4x5xf64>)",
     "4x5"},
    {"ScatterMulUnique", R"(%c = sgd.dot_general %a, %m batching = [] x [] contracting = [1] x [0]
        : tensor<3x4xf64>, tensor<4x5xf64> -> tensor<3x5xf64>
      %z = arith.constant dense<[2, 5, 0]> : tensor<3xi32>
      %0 = sgd.scatter mul %m, %z, %c {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
        input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
        index_vector_dim = 1 : i64, unique_indices} : (tensor<4x5xf64>, tensor<3xi32>, tensor<3x5xf64>) -> tensor<4x5xf64>)",
     "4x5"},
    {"ScatterMulOfRepeated", R"(%c = sgd.dot_general %a, %m batching = [] x [] contracting = [1] x [0]
        : tensor<3x4xf64>, tensor<4x5xf64> -> tensor<3x5xf64>
      %z = arith.constant dense<[2, 5, 2]> : tensor<3xi32>
      %0 = sgd.scatter mul %m, %z, %c {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
        input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
        index_vector_dim = 1 : i64} : (tensor<4x5xf64>, tensor<3xi32>, tensor<3x5xf64>) -> tensor<4x5xf64>)",
     "4x5"},
    {"ScatterMulByConstants", R"(%c = arith.constant dense<[2.0, 0.0, 3.0]> : tensor<3xf64>
      %d = sgd.broadcast_in_dim %c dims = [0] : tensor<3xf64> -> tensor<3x5xf64>
      %z = arith.constant dense<[2, 5, 2]> : tensor<3xi32>
      %0 = sgd.scatter mul %m, %z, %d {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
        input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
        index_vector_dim = 1 : i64} : (tensor<4x5xf64>, tensor<3xi32>, tensor<3x5xf64>) -> tensor<4x5xf64>)",
     "4x5"},
    // Places with one factor of zero, among the operand's and among the updates', and with two.
    {"ScatterMulOfZeros", R"(%z = arith.constant dense<[0, 2, 2, 3, 1, 1, 0, 0, 9, 3, 3, 0]> : tensor<12xi32>
      %one = arith.constant dense<[1.0, 0.0, 1.0, 0.0]> : tensor<4xf64>
      %k = arith.mulf %v, %one : tensor<4xf64>
      %mask = arith.constant dense<[[1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0]]> : tensor<3x4xf64>
      %c = arith.mulf %a, %mask : tensor<3x4xf64>
      %d = sgd.reshape %c : tensor<3x4xf64> -> tensor<12xf64>
      %0 = sgd.scatter mul %k, %z, %d {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>,
        input_batching_dims = array<i64>, indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>,
        index_vector_dim = 1 : i64} : (tensor<4xf64>, tensor<12xi32>, tensor<12xf64>) -> tensor<4xf64>)",
     "4"},

    {"Sort", R"(%c:2 = sgd.sort(%a, %b) dimension = 1 {
      ^bb0(%k: f64, %l: f64, %u: f64, %w: f64):
        %less = arith.cmpf olt, %k, %l : f64
        sgd.yield %less : i1
      } : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %0 = arith.mulf %c#0, %c#1 : tensor<3x4xf64>)",
     "3x4"},
    {"TopK", "%0, %n = sgd.top_k %a k = 2 : (tensor<3x4xf64>) -> (tensor<3x2xf64>, tensor<3x2xi32>)", "3x2"},
    {"CumulativeSum", "%0 = sgd.cumulative add %a dimension = 1 : tensor<3x4xf64>", "3x4"},
    {"CumulativeSumReversed", "%0 = sgd.cumulative add %a dimension = 0 reverse : tensor<3x4xf64>", "3x4"},
    {"CumulativeMax", "%0 = sgd.cumulative max %x dimension = 1 : tensor<2x6x5x2x3xf64>", "2x6x5x2x3"},
    {"CumulativeMinReversed", "%0 = sgd.cumulative min %x dimension = 1 reverse : tensor<2x6x5x2x3xf64>", "2x6x5x2x3"},

    {"CumulativeProduct", "%0 = sgd.cumulative mul %x dimension = 1 : tensor<2x6x5x2x3xf64>", "2x6x5x2x3"},
    {"CumulativeProductReversed", "%0 = sgd.cumulative mul %a dimension = 1 reverse : tensor<3x4xf64>", "3x4"},
    {"CumulativeProductWithZeros", R"(%c = sgd.cumulative mul %m dimension = 1 : tensor<4x5xf64>
      %d = sgd.cumulative mul %m dimension = 0 reverse : tensor<4x5xf64>
      %0 = sgd.concatenate %c, %d dimension = 0 : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<8x5xf64>)",
     "8x5"},
    {"CumulativeProductOfOne", R"(%c = sgd.reshape %v : tensor<4xf64> -> tensor<4x1xf64>
      %0 = sgd.cumulative mul %c dimension = 1 : tensor<4x1xf64>)",
     "4x1"},

    {"Cholesky", R"(%c = sgd.dot_general %a, %a batching = [] x [] contracting = [1] x [1]
        : tensor<3x4xf64>, tensor<3x4xf64> -> tensor<3x3xf64>
      %0, %info = sgd.linear_algebra cholesky lower (%c) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>))",
     "3x3"},
    {"CholeskyUpper", R"(%c = sgd.dot_general %a, %a batching = [] x [] contracting = [1] x [1]
        : tensor<3x4xf64>, tensor<3x4xf64> -> tensor<3x3xf64>
      %0, %info = sgd.linear_algebra cholesky (%c) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>))",
     "3x3"},
    {"TriangularSolve",
     R"(%c = sgd.slice %p starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %0 = sgd.linear_algebra triangular_solve lower (%c, %a) : (tensor<3x3xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>)",
     "3x4"},
    {"TriangularSolveTransposed",
     R"(%c = sgd.slice %p starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %0 = sgd.linear_algebra triangular_solve transpose unit_diagonal (%c, %a) : (tensor<3x3xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>)",
     "3x4"},
    {"TriangularSolveRight",
     R"(%c = sgd.slice %p starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %t = sgd.transpose %a permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %0 = sgd.linear_algebra triangular_solve lower right (%c, %t) : (tensor<3x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>)",
     "4x3"},

    {"TriangularSolveComplex",
     R"(%c = sgd.slice %p starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %e = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %f:2 = sgd.linear_algebra triangular_solve lower complex (%c, %e, %a, %b)
        : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %g:2 = sgd.linear_algebra triangular_solve lower transpose complex (%c, %e, %a, %b)
        : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %h:2 = sgd.linear_algebra triangular_solve transpose complex conjugate (%c, %e, %a, %b)
        : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %0 = sgd.concatenate %f#0, %f#1, %g#0, %g#1, %h#0, %h#1 dimension = 0
        : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<18x4xf64>)",
     "18x4"},
    {"TriangularSolveComplexRight",
     R"(%c = sgd.slice %p starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %e = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %t = sgd.transpose %a permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %u = sgd.transpose %b permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %f:2 = sgd.linear_algebra triangular_solve right complex (%c, %e, %t, %u)
        : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<4x3xf64>)
      %g:2 = sgd.linear_algebra triangular_solve lower right transpose complex conjugate (%c, %e, %t, %u)
        : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<4x3xf64>)
      %0 = sgd.concatenate %f#0, %f#1, %g#0, %g#1 dimension = 0
        : (tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<16x3xf64>)",
     "16x3"},
    {"Lu", R"(%c = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %0, %pivots, %info = sgd.linear_algebra lu (%c) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>, tensor<i32>))",
     "3x3"},
    {"LuWide",
     R"(%0, %pivots, %info = sgd.linear_algebra lu (%a) : (tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3xi32>, tensor<i32>))",
     "3x4"},
    {"LuTall", R"(%c = sgd.reshape %x : tensor<2x6x5x2x3xf64> -> tensor<12x5x6xf64>
      %d = sgd.slice %c starts = [0, 0, 0] limits = [2, 5, 3] strides = [1, 1, 1] : tensor<12x5x6xf64> -> tensor<2x5x3xf64>
      %0, %pivots, %info = sgd.linear_algebra lu (%d) : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xi32>, tensor<2xi32>))",
     "2x5x3"},
    {"LuComplex", R"(%re, %im, %pivots, %info = sgd.linear_algebra lu complex (%a, %b)
        : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3xi32>, tensor<i32>)
      %0 = sgd.concatenate %re, %im dimension = 0 : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<6x4xf64>)",
     "6x4"},
    {"Qr", R"(%c = sgd.reshape %x : tensor<2x6x5x2x3xf64> -> tensor<12x5x6xf64>
      %d = sgd.slice %c starts = [0, 0, 0] limits = [2, 5, 3] strides = [1, 1, 1] : tensor<12x5x6xf64> -> tensor<2x5x3xf64>
      %e:2 = sgd.linear_algebra qr (%d) : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>)
      %q = sgd.linear_algebra householder_product (%e#0, %e#1) : (tensor<2x5x3xf64>, tensor<2x3xf64>) -> tensor<2x5x3xf64>
      %f = sgd.slice %e#0 starts = [0, 0, 0] limits = [2, 3, 3] strides = [1, 1, 1] : tensor<2x5x3xf64> -> tensor<2x3x3xf64>
      %row = sgd.iota dimension = 1 : tensor<2x3x3xi32>
      %column = sgd.iota dimension = 2 : tensor<2x3x3xi32>
      %isUpper = arith.cmpi sle, %row, %column : tensor<2x3x3xi32>
      %zeros = arith.constant dense<0.0> : tensor<2x3x3xf64>
      %r = arith.select %isUpper, %f, %zeros : tensor<2x3x3xi1>, tensor<2x3x3xf64>
      %0 = sgd.concatenate %q, %r dimension = 1 : (tensor<2x5x3xf64>, tensor<2x3x3xf64>) -> tensor<2x8x3xf64>)",
     "2x8x3"},
    {"QrWide", R"(%e:2 = sgd.linear_algebra qr (%a) : (tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>)
      %f = sgd.slice %e#0 starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %q = sgd.linear_algebra householder_product (%f, %e#1) : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3x3xf64>
      %row = sgd.iota dimension = 0 : tensor<3x4xi32>
      %column = sgd.iota dimension = 1 : tensor<3x4xi32>
      %isLower = arith.cmpi sgt, %row, %column : tensor<3x4xi32>
      %zeros = arith.constant dense<0.0> : tensor<3x4xf64>
      %r = arith.select %isLower, %zeros, %e#0 : tensor<3x4xi1>, tensor<3x4xf64>
      %0 = sgd.concatenate %q, %r dimension = 1 : (tensor<3x3xf64>, tensor<3x4xf64>) -> tensor<3x7xf64>)",
     "3x7"},
    {"QrComplex", R"(%t = sgd.transpose %a permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %u = sgd.transpose %b permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %e:4 = sgd.linear_algebra qr complex (%t, %u)
        : (tensor<4x3xf64>, tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>)
      %q:2 = sgd.linear_algebra householder_product complex (%e#0, %e#1, %e#2, %e#3)
        : (tensor<4x3xf64>, tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<4x3xf64>, tensor<4x3xf64>)
      %row = sgd.iota dimension = 0 : tensor<4x3xi32>
      %column = sgd.iota dimension = 1 : tensor<4x3xi32>
      %isUpper = arith.cmpi sle, %row, %column : tensor<4x3xi32>
      %zeros = arith.constant dense<0.0> : tensor<4x3xf64>
      %r = arith.select %isUpper, %e#0, %zeros : tensor<4x3xi1>, tensor<4x3xf64>
      %s = arith.select %isUpper, %e#1, %zeros : tensor<4x3xi1>, tensor<4x3xf64>
      %0 = sgd.concatenate %q#0, %q#1, %r, %s dimension = 0
        : (tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<16x3xf64>)",
     "16x3"},
    {"PivotedQr", R"(%t = sgd.transpose %a permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %free = arith.constant dense<0> : tensor<3xi32>
      %e:3 = sgd.linear_algebra pivoted_qr (%t, %free) : (tensor<4x3xf64>, tensor<3xi32>) -> (tensor<4x3xf64>, tensor<3xi32>, tensor<3xf64>)
      %q = sgd.linear_algebra householder_product (%e#0, %e#2) : (tensor<4x3xf64>, tensor<3xf64>) -> tensor<4x3xf64>
      %row = sgd.iota dimension = 0 : tensor<4x3xi32>
      %column = sgd.iota dimension = 1 : tensor<4x3xi32>
      %isUpper = arith.cmpi sle, %row, %column : tensor<4x3xi32>
      %zeros = arith.constant dense<0.0> : tensor<4x3xf64>
      %r = arith.select %isUpper, %e#0, %zeros : tensor<4x3xi1>, tensor<4x3xf64>
      %0 = sgd.concatenate %q, %r dimension = 1 : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x6xf64>)",
     "4x6"},
    {"HouseholderMultiply", R"(%c = arith.constant dense<[[1.0, 2.0], [3.0, 1.0], [0.5, 4.0]]> : tensor<3x2xf64>
      %e:2 = sgd.linear_algebra qr (%c) : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>)
      %0 = sgd.linear_algebra householder_multiply transpose (%e#0, %e#1, %a) : (tensor<3x2xf64>, tensor<2xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>)",
     "3x4"},
    // Signs of vectors are the routine's choice: squares do not depend on them.
    {"Eigh", R"(%c = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %v2, %w, %info = sgd.linear_algebra eigh lower vectors (%c) : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>, tensor<i32>)
      %s = arith.mulf %v2, %v2 : tensor<3x3xf64>
      %e = sgd.reshape %w : tensor<3xf64> -> tensor<1x3xf64>
      %0 = sgd.concatenate %s, %e dimension = 0 : (tensor<3x3xf64>, tensor<1x3xf64>) -> tensor<4x3xf64>)",
     "4x3"},
    {"EighValues",
     R"(%c = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %0, %info = sgd.linear_algebra eigh (%c) : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<i32>))",
     "3"},
    {"EighComplex",
     R"(%c = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %d = sgd.slice %b starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %re, %im, %w, %info = sgd.linear_algebra eigh lower vectors complex (%c, %d)
        : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<i32>)
      %s = arith.mulf %re, %re : tensor<3x3xf64>
      %t = arith.mulf %im, %im : tensor<3x3xf64>
      %u = arith.addf %s, %t : tensor<3x3xf64>
      %e = sgd.reshape %w : tensor<3xf64> -> tensor<1x3xf64>
      %0 = sgd.concatenate %u, %e dimension = 0 : (tensor<3x3xf64>, tensor<1x3xf64>) -> tensor<4x3xf64>)",
     "4x3"},
    {"EighValuesComplex",
     R"(%c = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %d = sgd.slice %b starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %0, %info = sgd.linear_algebra eigh complex (%c, %d) : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3xf64>, tensor<i32>))",
     "3"},
    {"Svd", R"(%s, %u, %vt, %info = sgd.linear_algebra svd vectors (%a)
        : (tensor<3x4xf64>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<3x4xf64>, tensor<i32>)
      %d = arith.mulf %u, %u : tensor<3x3xf64>
      %e = arith.mulf %vt, %vt : tensor<3x4xf64>
      %f = sgd.reshape %s : tensor<3xf64> -> tensor<3x1xf64>
      %0 = sgd.concatenate %d, %e, %f dimension = 1 : (tensor<3x3xf64>, tensor<3x4xf64>, tensor<3x1xf64>) -> tensor<3x8xf64>)",
     "3x8"},
    {"SvdTall", R"(%t = sgd.transpose %a permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %s, %u, %vt, %info = sgd.linear_algebra svd vectors (%t)
        : (tensor<4x3xf64>) -> (tensor<3xf64>, tensor<4x3xf64>, tensor<3x3xf64>, tensor<i32>)
      %d = arith.mulf %u, %u : tensor<4x3xf64>
      %e = arith.mulf %vt, %vt : tensor<3x3xf64>
      %0 = sgd.concatenate %d, %e dimension = 0 : (tensor<4x3xf64>, tensor<3x3xf64>) -> tensor<7x3xf64>)",
     "7x3"},
    {"SvdValues", R"(%0, %info = sgd.linear_algebra svd (%a) : (tensor<3x4xf64>) -> (tensor<3xf64>, tensor<i32>))",
     "3"},
    {"SvdComplex", R"(%s, %u, %w, %vt, %wt, %info = sgd.linear_algebra svd vectors complex (%a, %b)
        : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<i32>)
      %d = arith.mulf %u, %u : tensor<3x3xf64>
      %e = arith.mulf %w, %w : tensor<3x3xf64>
      %f = arith.addf %d, %e : tensor<3x3xf64>
      %g = arith.mulf %vt, %vt : tensor<3x4xf64>
      %h = arith.mulf %wt, %wt : tensor<3x4xf64>
      %k = arith.addf %g, %h : tensor<3x4xf64>
      %0 = sgd.concatenate %f, %k dimension = 1 : (tensor<3x3xf64>, tensor<3x4xf64>) -> tensor<3x7xf64>)",
     "3x7"},
    {"SvdFullValues", R"(%0, %u, %vt, %info = sgd.linear_algebra svd vectors full (%a)
        : (tensor<3x4xf64>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<4x4xf64>, tensor<i32>))",
     "3"},
    {"Eig", R"(%c = sgd.slice %p starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %re, %im, %info = sgd.linear_algebra eig (%c) : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<i32>)
      %0 = sgd.concatenate %re, %im dimension = 0 : (tensor<3xf64>, tensor<3xf64>) -> tensor<6xf64>)",
     "6"},
    {"EigComplex",
     R"(%c = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %d = sgd.slice %b starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %re, %im, %vr, %vi, %info = sgd.linear_algebra eig vectors complex (%c, %d)
        : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<i32>)
      %0 = sgd.concatenate %re, %im dimension = 0 : (tensor<3xf64>, tensor<3xf64>) -> tensor<6xf64>)",
     "6"},
    {"TridiagonalSolve",
     R"(%l = sgd.slice %m starts = [0, 0] limits = [4, 1] strides = [1, 1] : tensor<4x5xf64> -> tensor<4x1xf64>
      %lower = sgd.reshape %l : tensor<4x1xf64> -> tensor<4xf64>
      %k = sgd.slice %a starts = [0, 0] limits = [1, 4] strides = [1, 1] : tensor<3x4xf64> -> tensor<1x4xf64>
      %upper = sgd.reshape %k : tensor<1x4xf64> -> tensor<4xf64>
      %six = arith.constant dense<6.0> : tensor<4xf64>
      %main = arith.addf %v, %six : tensor<4xf64>
      %0, %info = sgd.linear_algebra tridiagonal_solve (%lower, %main, %upper, %m)
        : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4x5xf64>) -> (tensor<4x5xf64>, tensor<i32>))",
     "4x5"},
    {"TridiagonalSolveComplex", R"(%t = sgd.transpose %a permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %u = sgd.transpose %b permutation = [1, 0] : tensor<3x4xf64> -> tensor<4x3xf64>
      %six = arith.constant dense<6.0> : tensor<4xf64>
      %main = arith.addf %v, %six : tensor<4xf64>
      %w = math.sin %v : tensor<4xf64>
      %y = math.cos %v : tensor<4xf64>
      %re, %im, %info = sgd.linear_algebra tridiagonal_solve complex (%w, %v, %main, %w, %y, %w, %t, %u)
        : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4x3xf64>, tensor<4x3xf64>)
        -> (tensor<4x3xf64>, tensor<4x3xf64>, tensor<i32>)
      %0 = sgd.concatenate %re, %im dimension = 0 : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<8x3xf64>)",
     "8x3"},
    {"CholeskyComplex",
     R"(%c = sgd.slice %a starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %d = sgd.slice %b starts = [0, 0] limits = [3, 3] strides = [1, 1] : tensor<3x4xf64> -> tensor<3x3xf64>
      %large = arith.constant dense<[[16.0, 0.0, 0.0], [0.0, 17.0, 0.0], [0.0, 0.0, 18.0]]> : tensor<3x3xf64>
      %e = arith.addf %c, %large : tensor<3x3xf64>
      %re, %im, %info = sgd.linear_algebra cholesky lower complex (%e, %d)
        : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>, tensor<i32>)
      %re2, %im2, %info2 = sgd.linear_algebra cholesky complex (%e, %d)
        : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>, tensor<i32>)
      %0 = sgd.concatenate %re, %im, %re2, %im2 dimension = 0
        : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<12x3xf64>)",
     "12x3"},
    {"Fft",
     R"(%c:2 = sgd.linear_algebra fft (%a, %b) : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %d:2 = sgd.linear_algebra fft inverse two_dims (%b, %a) : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %0 = sgd.concatenate %c#0, %c#1, %d#0, %d#1 dimension = 0
        : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<12x4xf64>)",
     "12x4"},
    {"FftOfPairs",
     R"(%c = sgd.transpose %x permutation = [0, 1, 2, 4, 3] : tensor<2x6x5x2x3xf64> -> tensor<2x6x5x3x2xf64>
      %d:2 = sgd.linear_algebra fft three_dims paired_operand (%c) : (tensor<2x6x5x3x2xf64>) -> (tensor<2x6x5x3xf64>, tensor<2x6x5x3xf64>)
      %0 = sgd.concatenate %d#0, %d#1 dimension = 0 : (tensor<2x6x5x3xf64>, tensor<2x6x5x3xf64>) -> tensor<4x6x5x3xf64>)",
     "4x6x5x3"},
    {"RealFft", R"(%c:2 = sgd.linear_algebra real_fft (%a) : (tensor<3x4xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
      %d:2 = sgd.linear_algebra real_fft two_dims (%m) : (tensor<4x5xf64>) -> (tensor<4x3xf64>, tensor<4x3xf64>)
      %0 = sgd.concatenate %c#0, %c#1, %d#0, %d#1 dimension = 0
        : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<14x3xf64>)",
     "14x3"},
    {"RealFftToPairs", "%0 = sgd.linear_algebra real_fft paired_result (%a) : (tensor<3x4xf64>) -> tensor<3x3x2xf64>",
     "3x3x2"},
    {"InverseRealFft",
     R"(%c = sgd.linear_algebra inverse_real_fft (%a, %b) : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x6xf64>
      %d = sgd.linear_algebra inverse_real_fft odd_length two_dims (%a, %b) : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x7xf64>
      %e = sgd.linear_algebra inverse_real_fft two_dims (%b, %a) : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x6xf64>
      %0 = sgd.concatenate %c, %d, %e dimension = 1 : (tensor<3x6xf64>, tensor<3x7xf64>, tensor<3x6xf64>) -> tensor<3x19xf64>)",
     "3x19"},
    {"InverseRealFftOfPairs",
     R"(%c = sgd.transpose %x permutation = [0, 1, 2, 4, 3] : tensor<2x6x5x2x3xf64> -> tensor<2x6x5x3x2xf64>
      %0 = sgd.linear_algebra inverse_real_fft paired_operand (%c) : (tensor<2x6x5x3x2xf64>) -> tensor<2x6x5x4xf64>)",
     "2x6x5x4"},

    // A state that each trip changes, with a matrix that none does.
    {"Loop", R"(%z = arith.constant dense<0> : tensor<i32>
      %c:3 = sgd.while (%z, %a, %b) trips 3 do {
      ^bb0(%n: tensor<i32>, %s: tensor<3x4xf64>, %w: tensor<3x4xf64>):
        %one = arith.constant dense<1> : tensor<i32>
        %next = arith.addi %n, %one : tensor<i32>
        %t = arith.mulf %s, %w : tensor<3x4xf64>
        %u = math.sin %t : tensor<3x4xf64>
        sgd.yield %next, %u, %w : tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>
      } : (tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>)
      %0 = arith.addf %c#1, %c#2 : tensor<3x4xf64>)",
     "3x4"},
    {"LoopOfNoTrip", R"(%c:2 = sgd.while (%a, %b) trips 0 do {
      ^bb0(%s: tensor<3x4xf64>, %w: tensor<3x4xf64>):
        %t = arith.mulf %s, %w : tensor<3x4xf64>
        sgd.yield %t, %w : tensor<3x4xf64>, tensor<3x4xf64>
      } : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %0 = arith.mulf %c#0, %c#1 : tensor<3x4xf64>)",
     "3x4"},
    {"LoopThatExchanges", R"(%c:2 = sgd.while (%a, %b) trips 3 do {
      ^bb0(%s: tensor<3x4xf64>, %w: tensor<3x4xf64>):
        %t = arith.mulf %s, %w : tensor<3x4xf64>
        sgd.yield %w, %t : tensor<3x4xf64>, tensor<3x4xf64>
      } : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %0 = arith.addf %c#0, %c#1 : tensor<3x4xf64>)",
     "3x4"},
    // As a scan over rows: each trip reads one of %a and %p and writes one of the result.
    {"Scan", R"(%z = arith.constant dense<0> : tensor<i32>
      %e = arith.constant dense<0.0> : tensor<3x4xf64>
      %c:5 = sgd.while (%z, %a, %p, %v, %e) trips 3 do {
      ^bb0(%n: tensor<i32>, %as: tensor<3x4xf64>, %ps: tensor<3x4xf64>, %s: tensor<4xf64>, %ys: tensor<3x4xf64>):
        %one = arith.constant dense<1> : tensor<i32>
        %first = arith.constant dense<0> : tensor<i32>
        %next = arith.addi %n, %one : tensor<i32>
        %r = sgd.dynamic_slice %as, %n, %first sizes = [1, 4] : (tensor<3x4xf64>, tensor<i32>, tensor<i32>) -> tensor<1x4xf64>
        %q = sgd.dynamic_slice %ps, %n, %first sizes = [1, 4] : (tensor<3x4xf64>, tensor<i32>, tensor<i32>) -> tensor<1x4xf64>
        %k = arith.mulf %r, %q : tensor<1x4xf64>
        %l = sgd.reshape %k : tensor<1x4xf64> -> tensor<4xf64>
        %t = arith.mulf %s, %l : tensor<4xf64>
        %u = math.tanh %t : tensor<4xf64>
        %y = sgd.reshape %u : tensor<4xf64> -> tensor<1x4xf64>
        %ys2 = sgd.dynamic_update_slice %ys, %y, %n, %first : (tensor<3x4xf64>, tensor<1x4xf64>, tensor<i32>, tensor<i32>) -> tensor<3x4xf64>
        sgd.yield %next, %as, %ps, %u, %ys2 : tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<4xf64>, tensor<3x4xf64>
      } : (tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<4xf64>, tensor<3x4xf64>) -> (tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<4xf64>, tensor<3x4xf64>)
      %f = sgd.broadcast_in_dim %c#3 dims = [1] : tensor<4xf64> -> tensor<3x4xf64>
      %0 = arith.addf %f, %c#4 : tensor<3x4xf64>)",
     "3x4"},
    {"LoopInLoop", R"(%c:2 = sgd.while (%a, %b) trips 2 do {
      ^bb0(%s: tensor<3x4xf64>, %w: tensor<3x4xf64>):
        %d:2 = sgd.while (%s, %w) trips 3 do {
        ^bb1(%t: tensor<3x4xf64>, %x2: tensor<3x4xf64>):
          %u = arith.mulf %t, %x2 : tensor<3x4xf64>
          %k = math.sin %u : tensor<3x4xf64>
          sgd.yield %k, %x2 : tensor<3x4xf64>, tensor<3x4xf64>
        } : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
        %l = arith.addf %d#0, %s : tensor<3x4xf64>
        sgd.yield %l, %w : tensor<3x4xf64>, tensor<3x4xf64>
      } : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
      %0 = arith.mulf %c#0, %c#1 : tensor<3x4xf64>)",
     "3x4"},
    {"Case", R"(%j = arith.constant dense<1> : tensor<i32>
      %0 = sgd.case %j (%a, %b) {
      ^bb0(%s: tensor<3x4xf64>, %t: tensor<3x4xf64>):
        sgd.yield %s : tensor<3x4xf64>
      }, {
      ^bb0(%s: tensor<3x4xf64>, %t: tensor<3x4xf64>):
        %u = arith.mulf %s, %t : tensor<3x4xf64>
        %w = math.sin %u : tensor<3x4xf64>
        sgd.yield %w : tensor<3x4xf64>
      } : (tensor<i32>, tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>)",
     "3x4"},
};

std::string getText(const Body& body) {
  std::string type = std::string("tensor<") + body.type + "xf64>";
  std::string dims;
  for (int dim = 0, rank = 1 + static_cast<int>(StringRef(body.type).count('x')); dim < rank; ++dim)
    dims += (dim ? ", " : "") + std::to_string(dim);
  return R"(func.func @main(%a: tensor<3x4xf64>, %b: tensor<3x4xf64>, %p: tensor<3x4xf64>, %v: tensor<4xf64>,
      %m: tensor<4x5xf64>, %x: tensor<2x6x5x2x3xf64>, %i: tensor<3xi32>) -> tensor<f64> {
    )" + std::string(body.ops) +
         "\n%square = arith.mulf %0, %0 : " + type + "\n%both = arith.addf %square, %0 : " + type +
         "\n%loss = sgd.reduce add %both dimensions = [" + dims + "] : " + type +
         " -> tensor<f64>\nreturn %loss : tensor<f64>\n}";
}

DialectRegistry getRegistry() {
  DialectRegistry registry;
  registry.insert<SgdDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  registerDerivativeRules(registry);
  return registry;
}

class Derivatives : public ::testing::TestWithParam<Body> {
 protected:
  Derivatives() : context(getRegistry(), MLIRContext::Threading::DISABLED) { context.loadAllAvailableDialects(); }

  static std::vector<reference::Tensor> makeArguments(func::FuncOp main) {
    std::vector<reference::Tensor> arguments;
    uint64_t state = 7;
    auto next = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
    for (auto [position, type] : llvm::enumerate(main.getArgumentTypes())) {
      reference::Tensor tensor(cast<RankedTensorType>(type));
      for (int64_t i = 0; i < tensor.size(); ++i) {
        double uniform = static_cast<double>(next()) / static_cast<double>(uint64_t{1} << 31);
        if (!tensor.isFloat())
          tensor.setInteger(i, static_cast<int64_t>(next() % 7) - 1);
        else
          tensor.setFloat(i, position == 2 ? 0.5 + 1.5 * uniform : position == 3 ? uniform : 4 * uniform - 2);
      }
      arguments.push_back(tensor);
    }
    for (int64_t zero : {7, 10, 13}) arguments[4].setFloat(zero, 0);
    return arguments;
  }

  static std::vector<reference::Tensor> evaluate(func::FuncOp main, const std::vector<reference::Tensor>& arguments) {
    std::vector<reference::RankTensors> each;
    for (const reference::Tensor& argument : arguments) each.push_back({argument});
    auto results = reference::evaluate(main, each, 1);
    std::vector<reference::Tensor> alone;
    if (failed(results)) return ADD_FAILURE() << "not evaluated", alone;
    for (reference::RankTensors& result : *results) alone.push_back(result.front());
    return alone;
  }

  /// The slope of the loss by element `at` of argument `position`.
  static double getSlope(func::FuncOp main, std::vector<reference::Tensor> arguments, size_t position, int64_t at) {
    constexpr double kStep = 1e-5;
    double value = arguments[position].floats[at];
    arguments[position].floats[at] = value + kStep;
    double above = evaluate(main, arguments).front().floats[0];
    arguments[position].floats[at] = value - kStep;
    return (above - evaluate(main, arguments).front().floats[0]) / (2 * kStep);
  }

  /// Replaces the results, a loss and gradients, by the sum of the squares of the gradients.
  static void returnSquares(func::FuncOp main) {
    Operation* end = main.getBody().front().getTerminator();
    OpBuilder builder(end);
    TensorMath math(builder, main.getLoc());
    Value sum;
    for (Value gradient : llvm::drop_begin(end->getOperands())) {
      auto dims = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(gradient).getRank()));
      Value square = math.reduce(math.multiply(gradient, gradient), ReduceKind::Add, dims);
      sum = sum ? math.add(sum, square) : square;
    }
    end->setOperands(sum);
    main.setType(FunctionType::get(main.getContext(), main.getArgumentTypes(), sum.getType()));
  }

  MLIRContext context;
};

TEST_P(Derivatives, AreSlopes) {
  auto forward = parseSourceString<ModuleOp>(getText(GetParam()), &context);
  ASSERT_TRUE(forward) << getText(GetParam());
  OwningOpRef<ModuleOp> both = forward->clone();
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(createDifferentiatePass());
  ASSERT_TRUE(succeeded(passes.run(*both)));
  auto main = forward->lookupSymbol<func::FuncOp>("main"), differentiated = both->lookupSymbol<func::FuncOp>("main");
  std::vector<reference::Tensor> arguments = makeArguments(main);
  std::vector<reference::Tensor> results = evaluate(differentiated, arguments);
  ASSERT_EQ(results.size(), 7u);
  EXPECT_EQ(results.front().floats, evaluate(main, arguments).front().floats);
  bool isFlat = true;
  // Conversions to f32 are flat in steps that are smaller than their own.
  double tolerance = StringRef(GetParam().name) == "Widen" ? 1e-1 : 1e-5;
  for (size_t position = 0; position < 6; ++position) {
    for (int64_t at = 0; at < arguments[position].size(); ++at) {
      double slope = getSlope(main, arguments, position, at), gradient = results[position + 1].floats[at];
      EXPECT_NEAR(gradient, slope, tolerance * std::max(1.0, std::abs(slope)))
          << "element " << at << " of argument " << position;
      isFlat &= gradient == 0;
    }
  }
  EXPECT_FALSE(isFlat);
}

/// Bodies whose gradients use vectors without derivatives or leave factors of zero out.
bool isRefusedTwice(StringRef name) {
  return name.starts_with("ScatterMulOf") || name == "Eig" || name == "EigComplex" || name == "SvdFullValues";
}

/// Differentiates the sum of the squares of all gradients, as a gradient penalty does.
TEST_P(Derivatives, CanBeDifferentiated) {
  if (StringRef(GetParam().name) == "Widen") GTEST_SKIP() << "rounds to f32";
  auto module = parseSourceString<ModuleOp>(getText(GetParam()), &context);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(createDifferentiatePass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  auto main = module->lookupSymbol<func::FuncOp>("main");
  returnSquares(main);
  OwningOpRef<ModuleOp> penalty = module->clone();
  if (isRefusedTwice(GetParam().name)) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) { message += diagnostic.str(); });
    EXPECT_TRUE(failed(passes.run(*module)));
    EXPECT_NE(message.find("; expected"), std::string::npos) << message;
    return;
  }
  ASSERT_TRUE(succeeded(passes.run(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  auto forward = penalty->lookupSymbol<func::FuncOp>("main");
  std::vector<reference::Tensor> arguments = makeArguments(main), results = evaluate(main, arguments);
  ASSERT_EQ(results.size(), 7u);
  // Along a direction: one number for all elements.
  constexpr double kStep = 1e-5;
  double slope = 0, gradient = 0;
  std::vector<reference::Tensor> above = arguments, below = arguments;
  for (size_t position = 0; position < 6; ++position) {
    for (int64_t at = 0; at < arguments[position].size(); ++at) {
      double along = std::cos(static_cast<double>(1 + 7 * at + position));
      gradient += along * results[position + 1].floats[at];
      above[position].floats[at] += kStep * along;
      below[position].floats[at] -= kStep * along;
    }
  }
  slope = (evaluate(forward, above).front().floats[0] - evaluate(forward, below).front().floats[0]) / (2 * kStep);
  EXPECT_NEAR(gradient, slope, 1e-4 * std::max(1.0, std::abs(slope)));
}

INSTANTIATE_TEST_SUITE_P(Bodies, Derivatives, ::testing::ValuesIn(kBodies),
                         [](const auto& info) { return info.param.name; });

/// Ops that have no rule and are not flat.
const std::set<std::string> kWithout = {
    "sgd.compressed_reduction",  // written after sharding
    "sgd.iota",                  // has no operand
    "sgd.host_call",             // the function is not known
    "sgd.manual_computation",    // expanded before
    "sgd.mesh",                  // no value
    "sgd.permute_ranks",         // within manual computations
    "sgd.reshard",               // written by sharding
    "sgd.summands",              // written where training programs are made already, or within manual computations
    "sgd.yield",                 // its op's rule reads it
    "arith.constant",            // has no operand
    // Operands or results are integers.
    "arith.addi",
    "arith.addui_extended",
    "arith.andi",
    "arith.ceildivsi",
    "arith.ceildivui",
    "arith.cmpi",
    "arith.divsi",
    "arith.divui",
    "arith.extsi",
    "arith.extui",
    "arith.floordivsi",
    "arith.index_cast",
    "arith.index_castui",
    "arith.maxsi",
    "arith.maxui",
    "arith.minsi",
    "arith.minui",
    "arith.muli",
    "arith.mulsi_extended",
    "arith.mului_extended",
    "arith.ori",
    "arith.remsi",
    "arith.remui",
    "arith.shli",
    "arith.shrsi",
    "arith.shrui",
    "arith.sitofp",
    "arith.subi",
    "arith.trunci",
    "arith.uitofp",
    "arith.xori",
    "math.absi",
    "math.ctlz",
    "math.ctpop",
    "math.cttz",
    "math.ipowi",
    "math.isfinite",
    "math.isinf",
    "math.isnan",
    "math.isnormal",
    "sgd.divsi",
    "sgd.divui",
    "sgd.remsi",
    "sgd.remui",
    "sgd.shli",
    "sgd.shrui",
    "sgd.shrsi",
    // No frontend writes them.
    "arith.convertf",
    "arith.scaling_extf",
    "arith.scaling_truncf",
    "math.clampf",
    "math.fma",
    "math.fpowi",
    "math.sincos",
};

TEST(DerivativeRules, EveryOpHasOneOrIsListed) {
  MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  size_t numRules = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!llvm::is_contained({"sgd", "arith", "math"}, name.getDialectNamespace())) continue;
    bool hasRule = name.hasInterface<DerivativeRuleOpInterface>(),
         isWithout = kWithout.contains(name.getStringRef().str());
    numRules += hasRule;
    EXPECT_EQ(int{hasRule} + int{isFlat(name.getStringRef())} + int{isWithout}, 1) << name.getStringRef().str();
  }
  EXPECT_GT(numRules, 60u);
}

}  // namespace
}  // namespace mlir::sgd
