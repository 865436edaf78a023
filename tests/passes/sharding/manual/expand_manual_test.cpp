// Manual computations before and after sgd-expand-manual: all ranks run the body, or the graph is computed once.
#include <gtest/gtest.h>

#include <random>

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/sharding/manual/passes.h"
#include "passes/sharding/propagation/passes.h"
#include "reference/evaluate.h"

namespace mlir::sgd {
namespace {

/// A body over axes "x" of 2 and "y" of 3 ranks. %a is [4, 6, 5] cut to [2, 2, 5], %b [6, 5] cut along "y" to [2, 5],
/// %c [5, 4] the same on all ranks, %i integers [4] cut along "x" to [2], %r and %s scalars that are the rank's index
/// along "x" and "y".
struct Body {
  const char* name;
  const char* ops;   // the last value is %0
  const char* type;  // of %0
  const char* out;   // its sharding's dimensions
  const char* result;
  const char* unreduced = "";         // its axes, `, unreduced={"x"}`
  const char* operandUnreduced = "";  // likewise of %c
};

const Body kBodies[] = {
    {"Elementwise", "%0 = arith.mulf %a, %a : tensor<2x2x5xf32>", "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})",
     "tensor<4x6x5xf32>"},
    {"MixedAxes", R"(%1 = sgd.broadcast_in_dim %b dims = [1, 2] : tensor<2x5xf32> -> tensor<2x2x5xf32>
      %0 = arith.addf %a, %1 : tensor<2x2x5xf32>)",
     "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"ResultOfTheFirstRank", "%0 = sgd.transpose %b permutation = [1, 0] : tensor<2x5xf32> -> tensor<5x2xf32>",
     "tensor<5x2xf32>", "{}, {}", "tensor<5x2xf32>"},
    {"ResultOverBothAxes", "%0 = sgd.reshape %a : tensor<2x2x5xf32> -> tensor<20xf32>", "tensor<20xf32>",
     R"({"y", "x"})", "tensor<120xf32>"},
    {"AllReduce", R"(%0 = spmd.all_reduce add(%a) <@mesh, {"y"}> : (tensor<2x2x5xf32>) -> tensor<2x2x5xf32>)",
     "tensor<2x2x5xf32>", R"({"x"}, {}, {})", "tensor<4x2x5xf32>"},
    {"AllReduceOfEqualValues",
     R"(%0 = spmd.all_reduce add(%b) <@mesh, {"x", "y"}> : (tensor<2x5xf32>) -> tensor<2x5xf32>)", "tensor<2x5xf32>",
     "{}, {}", "tensor<2x5xf32>"},
    {"AllReduceMaximum",
     R"(%0 = spmd.all_reduce max(%a) <@mesh, {"x", "y"}> : (tensor<2x2x5xf32>) -> tensor<2x2x5xf32>)",
     "tensor<2x2x5xf32>", "{}, {}, {}", "tensor<2x2x5xf32>"},
    {"ResultIsASum", "%0 = arith.mulf %b, %b : tensor<2x5xf32>", "tensor<2x5xf32>", "{}, {}", "tensor<2x5xf32>",
     R"(, unreduced={"y"})"},
    {"ResultIsASumOfEqualValues", "%0 = arith.mulf %b, %b : tensor<2x5xf32>", "tensor<2x5xf32>", R"({"y"}, {})",
     "tensor<6x5xf32>", R"(, unreduced={"x"})"},
    {"ResultIsASumOverBothAxes", "%0 = arith.negf %a : tensor<2x2x5xf32>", "tensor<2x2x5xf32>", "{}, {}, {}",
     "tensor<2x2x5xf32>", R"(, unreduced={"y", "x"})"},
    {"OperandIsASum",
     R"(%1 = arith.addf %c, %c : tensor<5x4xf32>
      %0 = spmd.all_reduce add(%1) <@mesh, {"y"}> : (tensor<5x4xf32>) -> tensor<5x4xf32>)",
     "tensor<5x4xf32>", "{}, {}", "tensor<5x4xf32>", "", R"(, unreduced={"y"})"},
    {"OperandAndResultAreSums", R"(%1 = sgd.broadcast_in_dim %r dims = [] : tensor<i32> -> tensor<5x4xi32>
      %2 = arith.sitofp %1 : tensor<5x4xi32> to tensor<5x4xf32>
      %0 = arith.addf %c, %2 : tensor<5x4xf32>)",
     "tensor<5x4xf32>", "{}, {}", "tensor<5x4xf32>", R"(, unreduced={"x", "y"})", R"(, unreduced={"x", "y"})"},
    {"AllGather",
     R"(%0 = spmd.all_gather(%a) dims = [1] <@mesh, {"y", "x"}> : (tensor<2x2x5xf32>) -> tensor<2x12x5xf32>)",
     "tensor<2x12x5xf32>", "{}, {}, {}", "tensor<2x12x5xf32>"},
    {"AllGatherOfEqualValues",
     R"(%0 = spmd.all_gather(%b) dims = [0] <@mesh, {"x"}> : (tensor<2x5xf32>) -> tensor<4x5xf32>)", "tensor<4x5xf32>",
     R"({"y"}, {})", "tensor<12x5xf32>"},
    {"ReduceScatter",
     R"(%0 = spmd.reduce_scatter add(%a) dims = [0] <@mesh, {"x"}> : (tensor<2x2x5xf32>) -> tensor<1x2x5xf32>)",
     "tensor<1x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<2x6x5xf32>"},
    {"AllToAll",
     R"(%0 = spmd.all_to_all %a split = 0 concat = 2 <@mesh, {"x"}> : tensor<2x2x5xf32> -> tensor<1x2x10xf32>)",
     "tensor<1x2x10xf32>", R"({"x"}, {"y"}, {})", "tensor<2x6x10xf32>"},
    {"AllToAllBackwards", R"(%1 = sgd.transpose %a permutation = [2, 1, 0] : tensor<2x2x5xf32> -> tensor<5x2x2xf32>
      %0 = spmd.all_to_all %1 split = 1 concat = 0 <@mesh, {"x"}> : tensor<5x2x2xf32> -> tensor<10x1x2xf32>)",
     "tensor<10x1x2xf32>", R"({"x"}, {"y"}, {})", "tensor<20x3x2xf32>"},
    {"Broadcast", R"(%0 = spmd.broadcast %a <@mesh, {"y"}> : tensor<2x2x5xf32>)", "tensor<2x2x5xf32>",
     R"({"x"}, {}, {})", "tensor<4x2x5xf32>"},
    {"Rotate", R"(%0 = sgd.permute_ranks %a pairs = [0, 1, 1, 2, 2, 0] over <@mesh, {"y"}> : tensor<2x2x5xf32>)",
     "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"ShiftWithoutWrapping",
     R"(%0 = sgd.permute_ranks %a pairs = [0, 1, 1, 2] over <@mesh, {"y"}> : tensor<2x2x5xf32>)", "tensor<2x2x5xf32>",
     R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"AnyPairsOverBothAxes",
     R"(%0 = sgd.permute_ranks %a pairs = [5, 0, 0, 4, 3, 2, 2, 3] over <@mesh, {"y", "x"}> : tensor<2x2x5xf32>)",
     "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"SendEqualValues", R"(%0 = sgd.permute_ranks %c pairs = [0, 1] over <@mesh, {"x"}> : tensor<5x4xf32>)",
     "tensor<5x4xf32>", R"({"x"}, {})", "tensor<10x4xf32>"},
    {"Index", R"(%1 = arith.sitofp %r : tensor<i32> to tensor<f32>
      %2 = sgd.broadcast_in_dim %1 dims = [] : tensor<f32> -> tensor<5x4xf32>
      %0 = arith.mulf %2, %c : tensor<5x4xf32>)",
     "tensor<5x4xf32>", R"({"x"}, {})", "tensor<10x4xf32>"},
    {"Reduce", "%0 = sgd.reduce add %a dimensions = [1] : tensor<2x2x5xf32> -> tensor<2x5xf32>", "tensor<2x5xf32>",
     R"({"x"}, {"y"})", "tensor<4x15xf32>"},
    {"Slice",
     "%0 = sgd.slice %a starts = [0, 1, 1] limits = [2, 2, 5] strides = [1, 1, 2] : tensor<2x2x5xf32> -> "
     "tensor<2x1x2xf32>",
     "tensor<2x1x2xf32>", R"({"x"}, {"y"}, {})", "tensor<4x3x2xf32>"},
    {"Pad", R"(%z = arith.constant dense<7.0> : tensor<f32>
      %0 = sgd.pad %a, %z low = [1, 0, -1] high = [0, 2, 0] interior = [0, 1, 0] : tensor<2x2x5xf32>, tensor<f32> -> tensor<3x5x4xf32>)",
     "tensor<3x5x4xf32>", R"({"x"}, {"y"}, {})", "tensor<6x15x4xf32>"},
    {"PadWithOwnValues", R"(%p = arith.sitofp %s : tensor<i32> to tensor<f32>
      %0 = sgd.pad %a, %p low = [1, 0, -1] high = [0, 2, 0] interior = [0, 1, 0] : tensor<2x2x5xf32>, tensor<f32> -> tensor<3x5x4xf32>)",
     "tensor<3x5x4xf32>", R"({"x"}, {"y"}, {})", "tensor<6x15x4xf32>"},
    {"Cumulative", "%0 = sgd.cumulative add %a dimension = 1 reverse : tensor<2x2x5xf32>", "tensor<2x2x5xf32>",
     R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"Concatenate",
     "%0 = sgd.concatenate %b, %b, %b dimension = 1 : (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) -> "
     "tensor<2x15xf32>",
     "tensor<2x15xf32>", R"({"y"}, {})", "tensor<6x15xf32>"},
    {"Reverse", "%0 = sgd.reverse %a dimensions = [0, 2] : tensor<2x2x5xf32>", "tensor<2x2x5xf32>",
     R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"Select", R"(%zero = arith.constant dense<0> : tensor<i32>
      %first = arith.cmpi eq, %s, %zero : tensor<i32>
      %mask = sgd.broadcast_in_dim %first dims = [] : tensor<i1> -> tensor<2x5xi1>
      %n = arith.negf %b : tensor<2x5xf32>
      %0 = arith.select %mask, %b, %n : tensor<2x5xi1>, tensor<2x5xf32>)",
     "tensor<2x5xf32>", R"({"y"}, {})", "tensor<6x5xf32>"},
    {"DotWithTheSameWeights",
     "%0 = sgd.dot_general %a, %c batching = [] x [] contracting = [2] x [0] : tensor<2x2x5xf32>, tensor<5x4xf32> -> "
     "tensor<2x2x4xf32>",
     "tensor<2x2x4xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x4xf32>"},
    {"DotOfDifferentAxes", R"(%1 = spmd.broadcast %a <@mesh, {"y"}> : tensor<2x2x5xf32>
      %0 = sgd.dot_general %1, %b batching = [1] x [0] contracting = [2] x [1] : tensor<2x2x5xf32>, tensor<2x5xf32> -> tensor<2x2xf32>)",
     "tensor<2x2xf32>", R"({"x"}, {"y"})", "tensor<4x6xf32>"},
    {"DotOfTheSameAxes",
     "%0 = sgd.dot_general %b, %a batching = [] x [] contracting = [1] x [2] : tensor<2x5xf32>, tensor<2x2x5xf32> -> "
     "tensor<2x2x2xf32>",
     "tensor<2x2x2xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x2xf32>"},
    {"ConvolutionWithTheSameFilter", R"(%1 = sgd.reshape %a : tensor<2x2x5xf32> -> tensor<4x5x1x1xf32>
      %2 = sgd.reshape %c : tensor<5x4xf32> -> tensor<5x1x1x4xf32>
      %0 = sgd.convolution %1, %2 strides = [1] low = [2] high = [2] lhs_dilations = [1] rhs_dilations = [1] : tensor<4x5x1x1xf32>, tensor<5x1x1x4xf32> -> tensor<4x5x1x4xf32>)",
     "tensor<4x5x1x4xf32>", R"({"x"}, {"y"}, {}, {})", "tensor<8x15x1x4xf32>"},
    {"ConvolutionWithOtherFilters", R"(%1 = sgd.reshape %a : tensor<2x2x5xf32> -> tensor<2x2x1x5xf32>
      %2 = sgd.reshape %b : tensor<2x5xf32> -> tensor<2x1x5x1xf32>
      %0 = sgd.convolution %1, %2 strides = [1] low = [1] high = [0] lhs_dilations = [1] rhs_dilations = [1] : tensor<2x2x1x5xf32>, tensor<2x1x5x1xf32> -> tensor<2x2x1x1xf32>)",
     "tensor<2x2x1x1xf32>", R"({"x"}, {"y"}, {}, {})", "tensor<4x6x1x1xf32>"},
    {"Gather",
     R"(%0 = sgd.gather %a, %i {offset_dims = array<i64: 1, 2>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>,
      indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 2, 5>} : (tensor<2x2x5xf32>, tensor<2xi32>) -> tensor<2x2x5xf32>)",
     "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"GatherFromEqualTables",
     R"(%0 = sgd.gather %c, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>,
      indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 3>} : (tensor<5x4xf32>, tensor<2xi32>) -> tensor<2x3xf32>)",
     "tensor<2x3xf32>", R"({"x"}, {})", "tensor<4x3xf32>"},
    {"Scatter",
     R"(%u = sgd.slice %b starts = [0, 0] limits = [2, 4] strides = [1, 1] : tensor<2x5xf32> -> tensor<2x4xf32>
      %0 = sgd.scatter add %c, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>,
      scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<5x4xf32>, tensor<2xi32>, tensor<2x4xf32>) -> tensor<5x4xf32>)",
     "tensor<5x4xf32>", R"({"x"}, {"y"})", "tensor<10x12xf32>"},
    {"DynamicSlice",
     "%0 = sgd.dynamic_slice %b, %r, %s sizes = [1, 3] : (tensor<2x5xf32>, tensor<i32>, tensor<i32>) -> "
     "tensor<1x3xf32>",
     "tensor<1x3xf32>", R"({"x"}, {"y"})", "tensor<2x9xf32>"},
    {"DynamicSliceOfEqualValues",
     "%0 = sgd.dynamic_slice %c, %r, %s sizes = [5, 2] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> "
     "tensor<5x2xf32>",
     "tensor<5x2xf32>", R"({"y"}, {})", "tensor<15x2xf32>"},
    {"DynamicSliceAtEqualStarts", R"(%one = arith.constant dense<1> : tensor<i32>
      %0 = sgd.dynamic_slice %a, %one, %one, %one sizes = [1, 1, 3] : (tensor<2x2x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x3xf32>)",
     "tensor<1x1x3xf32>", R"({"x"}, {"y"}, {})", "tensor<2x3x3xf32>"},
    {"DynamicUpdate",
     R"(%u = sgd.slice %b starts = [0, 1] limits = [2, 4] strides = [1, 1] : tensor<2x5xf32> -> tensor<2x3xf32>
      %0 = sgd.dynamic_update_slice %c, %u, %s, %r : (tensor<5x4xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>)",
     "tensor<5x4xf32>", R"({"x"}, {"y"})", "tensor<10x12xf32>"},
    {"DynamicUpdateAtEqualStarts", R"(%one = arith.constant dense<1> : tensor<i32>
      %u = sgd.slice %b starts = [0, 1] limits = [2, 4] strides = [1, 1] : tensor<2x5xf32> -> tensor<2x3xf32>
      %0 = sgd.dynamic_update_slice %c, %u, %one, %one : (tensor<5x4xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>)",
     "tensor<5x4xf32>", R"({}, {"y"})", "tensor<5x12xf32>"},
    {"Sort",
     R"(%0, %1 = sgd.sort(%a, %a) dimension = 1 {
      ^bb0(%p: f32, %q: f32, %s0: f32, %s1: f32):
        %less = arith.cmpf olt, %p, %q : f32
        sgd.yield %less : i1
      } : (tensor<2x2x5xf32>, tensor<2x2x5xf32>) -> (tensor<2x2x5xf32>, tensor<2x2x5xf32>))",
     "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"TopK", "%0, %1 = sgd.top_k %b k = 3 : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)", "tensor<2x3xf32>",
     R"({"y"}, {})", "tensor<6x3xf32>"},
    {"Barrier",
     R"(%0, %1 = sgd.optimization_barrier %b, %c : (tensor<2x5xf32>, tensor<5x4xf32>) -> (tensor<2x5xf32>, tensor<5x4xf32>))",
     "tensor<2x5xf32>", R"({"y"}, {})", "tensor<6x5xf32>"},
    {"CountedLoop", R"(%0, %last = sgd.while(%b, %r) trips 3 do {
      ^bb0(%v: tensor<2x5xf32>, %n: tensor<i32>):
        %f = arith.sitofp %n : tensor<i32> to tensor<f32>
        %w = sgd.broadcast_in_dim %f dims = [] : tensor<f32> -> tensor<2x5xf32>
        %sum = arith.addf %v, %w : tensor<2x5xf32>
        %next = sgd.permute_ranks %sum pairs = [0, 1, 1, 2, 2, 0] over <@mesh, {"y"}> : tensor<2x5xf32>
        sgd.yield %next, %n : tensor<2x5xf32>, tensor<i32>
      } : (tensor<2x5xf32>, tensor<i32>) -> (tensor<2x5xf32>, tensor<i32>))",
     "tensor<2x5xf32>", R"({"y", "x"}, {})", "tensor<12x5xf32>"},
    {"LoopThatRanksLeaveTogether", R"(%one = arith.constant dense<1.0> : tensor<2x5xf32>
      %0 = sgd.while(%b) while {
      ^bb0(%v: tensor<2x5xf32>):
        %sum = sgd.reduce add %v dimensions = [0, 1] : tensor<2x5xf32> -> tensor<f32>
        %all = spmd.all_reduce max(%sum) <@mesh, {"y"}> : (tensor<f32>) -> tensor<f32>
        %bound = arith.constant dense<100.0> : tensor<f32>
        %more = arith.cmpf olt, %all, %bound : tensor<f32>
        sgd.yield %more : tensor<i1>
      } do {
      ^bb0(%v: tensor<2x5xf32>):
        %step = arith.constant dense<1.0> : tensor<2x5xf32>
        %next = arith.addf %v, %step : tensor<2x5xf32>
        sgd.yield %next : tensor<2x5xf32>
      } : (tensor<2x5xf32>) -> tensor<2x5xf32>)",
     "tensor<2x5xf32>", R"({"y"}, {})", "tensor<6x5xf32>"},
    {"LoopThatEachRankLeaves", R"(%zero = arith.constant dense<0> : tensor<i32>
      %0, %trips, %last = sgd.while(%b, %zero, %s) while {
      ^bb0(%v: tensor<2x5xf32>, %n: tensor<i32>, %end: tensor<i32>):
        %more = arith.cmpi slt, %n, %end : tensor<i32>
        sgd.yield %more : tensor<i1>
      } do {
      ^bb0(%v: tensor<2x5xf32>, %n: tensor<i32>, %end: tensor<i32>):
        %one = arith.constant dense<1> : tensor<i32>
        %next = arith.addi %n, %one : tensor<i32>
        %twice = arith.addf %v, %v : tensor<2x5xf32>
        sgd.yield %twice, %next, %end : tensor<2x5xf32>, tensor<i32>, tensor<i32>
      } : (tensor<2x5xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x5xf32>, tensor<i32>, tensor<i32>))",
     "tensor<2x5xf32>", R"({"y"}, {})", "tensor<6x5xf32>"},
    {"LoopInLoopThatEachRankLeaves", R"(%zero = arith.constant dense<0> : tensor<i32>
      %0, %trips, %end0 = sgd.while(%a, %zero, %r) while {
      ^bb0(%v: tensor<2x2x5xf32>, %n: tensor<i32>, %end: tensor<i32>):
        %more = arith.cmpi sle, %n, %end : tensor<i32>
        sgd.yield %more : tensor<i1>
      } do {
      ^bb0(%v: tensor<2x2x5xf32>, %n: tensor<i32>, %end: tensor<i32>):
        %one = arith.constant dense<1> : tensor<i32>
        %next = arith.addi %n, %one : tensor<i32>
        %y = spmd.partition_id <@mesh, {"y"}> : tensor<i32>
        %inner, %rest = sgd.while(%v, %y) while {
        ^bb1(%w: tensor<2x2x5xf32>, %m: tensor<i32>):
          %none = arith.constant dense<0> : tensor<i32>
          %go = arith.cmpi sgt, %m, %none : tensor<i32>
          sgd.yield %go : tensor<i1>
        } do {
        ^bb1(%w: tensor<2x2x5xf32>, %m: tensor<i32>):
          %down = arith.constant dense<-1> : tensor<i32>
          %less = arith.addi %m, %down : tensor<i32>
          %twice = arith.addf %w, %w : tensor<2x2x5xf32>
          sgd.yield %twice, %less : tensor<2x2x5xf32>, tensor<i32>
        } : (tensor<2x2x5xf32>, tensor<i32>) -> (tensor<2x2x5xf32>, tensor<i32>)
        sgd.yield %inner, %next, %end : tensor<2x2x5xf32>, tensor<i32>, tensor<i32>
      } : (tensor<2x2x5xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x2x5xf32>, tensor<i32>, tensor<i32>))",
     "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"BranchesThatAllRanksTake",
     R"(%i0 = sgd.slice %i starts = [0] limits = [1] strides = [1] : tensor<2xi32> -> tensor<1xi32>
      %i1 = sgd.reshape %i0 : tensor<1xi32> -> tensor<i32>
      %i2 = spmd.all_reduce max(%i1) <@mesh, {"x"}> : (tensor<i32>) -> tensor<i32>
      %0 = sgd.case %i2(%b, %s) {
      ^bb0(%v: tensor<2x5xf32>, %n: tensor<i32>):
        sgd.yield %v : tensor<2x5xf32>
      }, {
      ^bb0(%v: tensor<2x5xf32>, %n: tensor<i32>):
        %f = arith.sitofp %n : tensor<i32> to tensor<f32>
        %w = sgd.broadcast_in_dim %f dims = [] : tensor<f32> -> tensor<2x5xf32>
        sgd.yield %w : tensor<2x5xf32>
      } : (tensor<i32>, tensor<2x5xf32>, tensor<i32>) -> tensor<2x5xf32>)",
     "tensor<2x5xf32>", R"({"y"}, {})", "tensor<6x5xf32>"},
    {"BranchesThatEachRankTakes", R"(%two = arith.constant dense<2> : tensor<i32>
      %index = arith.subi %s, %two : tensor<i32>
      %0 = sgd.case %index(%a, %c) {
      ^bb0(%v: tensor<2x2x5xf32>, %w: tensor<5x4xf32>):
        %n = arith.negf %v : tensor<2x2x5xf32>
        sgd.yield %n : tensor<2x2x5xf32>
      }, {
      ^bb0(%v: tensor<2x2x5xf32>, %w: tensor<5x4xf32>):
        %sums = sgd.reduce add %w dimensions = [1] : tensor<5x4xf32> -> tensor<5xf32>
        %all = sgd.broadcast_in_dim %sums dims = [2] : tensor<5xf32> -> tensor<2x2x5xf32>
        sgd.yield %all : tensor<2x2x5xf32>
      } : (tensor<i32>, tensor<2x2x5xf32>, tensor<5x4xf32>) -> tensor<2x2x5xf32>)",
     "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"BranchesWithCollectivesAlongTheOtherAxis", R"(%0 = sgd.case %r(%a) {
      ^bb0(%v: tensor<2x2x5xf32>):
        %sum = spmd.all_reduce add(%v) <@mesh, {"y"}> : (tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
        sgd.yield %sum : tensor<2x2x5xf32>
      }, {
      ^bb0(%v: tensor<2x2x5xf32>):
        sgd.yield %v : tensor<2x2x5xf32>
      } : (tensor<i32>, tensor<2x2x5xf32>) -> tensor<2x2x5xf32>)",
     "tensor<2x2x5xf32>", R"({"x"}, {"y"}, {})", "tensor<4x6x5xf32>"},
    {"LoopThatEndsOnlyWhereItsBranchIsTaken", R"(%0 = sgd.case %s(%b, %s) {
      ^bb0(%v: tensor<2x5xf32>, %n: tensor<i32>):
        sgd.yield %v : tensor<2x5xf32>
      }, {
      ^bb0(%v: tensor<2x5xf32>, %n: tensor<i32>):
        // Where the rank's index is 1 or 2 it grows to 3; from 0 on it would stay 0 for ever.
        %w, %m = sgd.while(%v, %n) while {
        ^bb1(%p: tensor<2x5xf32>, %q: tensor<i32>):
          %bound = arith.constant dense<3> : tensor<i32>
          %go = arith.cmpi slt, %q, %bound : tensor<i32>
          sgd.yield %go : tensor<i1>
        } do {
        ^bb1(%p: tensor<2x5xf32>, %q: tensor<i32>):
          %twice = arith.addi %q, %q : tensor<i32>
          %sum = arith.addf %p, %p : tensor<2x5xf32>
          sgd.yield %sum, %twice : tensor<2x5xf32>, tensor<i32>
        } : (tensor<2x5xf32>, tensor<i32>) -> (tensor<2x5xf32>, tensor<i32>)
        sgd.yield %w : tensor<2x5xf32>
      } : (tensor<i32>, tensor<2x5xf32>, tensor<i32>) -> tensor<2x5xf32>)",
     "tensor<2x5xf32>", R"({"y"}, {})", "tensor<6x5xf32>"},
};

void PrintTo(const Body& body, std::ostream* stream) { *stream << body.name; }

class ExpandManual : public ::testing::TestWithParam<Body> {
 protected:
  ExpandManual() : context(getRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadDialect<SgdDialect, spmd::SpmdDialect, func::FuncDialect, arith::ArithDialect>();
  }

  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    registerShardingRules(registry);
    return registry;
  }

  static std::string getText(const Body& body) {
    std::string sharding = "#sgd.sharding<@mesh, [";
    return R"(sgd.mesh @mesh = <["x"=2, "y"=3]>
      func.func @main(%in0: tensor<4x6x5xf32>, %in1: tensor<6x5xf32>, %in2: tensor<5x4xf32>, %in3: tensor<4xi32>) -> )" +
           std::string(body.result) + " {\n%m = sgd.manual_computation(%in0, %in1, %in2, %in3) in [" + sharding +
           R"({"x"}, {"y"}, {}]>, )" + sharding + R"({"y"}, {}]>, )" + sharding + "{}, {}]" + body.operandUnreduced +
           ">, " + sharding + R"({"x"}]>] out [)" + sharding + body.out + "]" + body.unreduced +
           R"(>] over <@mesh, {"x", "y"}> {
      ^bb0(%a: tensor<2x2x5xf32>, %b: tensor<2x5xf32>, %c: tensor<5x4xf32>, %i: tensor<2xi32>):
      %id = spmd.partition_id <@mesh, {"x", "y"}> : tensor<i32>
      %three = arith.constant dense<3> : tensor<i32>
      %r = sgd.divui %id, %three : tensor<i32>
      %s = sgd.remui %id, %three : tensor<i32>
      )" + body.ops +
           "\nsgd.yield %0 : " + body.type +
           "\n} : (tensor<4x6x5xf32>, tensor<6x5xf32>, tensor<5x4xf32>, tensor<4xi32>) -> " + body.result +
           "\nreturn %m : " + body.result + "\n}";
  }

  reference::Tensor evaluate(ModuleOp module) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    std::mt19937 random(7);
    std::vector<reference::RankTensors> arguments;
    for (Type type : main.getArgumentTypes()) {
      reference::Tensor tensor(cast<RankedTensorType>(type));
      // Indices lie around the dimension that they index, some outside.
      for (int64_t i = 0; i < tensor.size(); ++i)
        tensor.isFloat() ? tensor.setFloat(i, static_cast<int>(random() % 17) - 8.0)
                         : tensor.setInteger(i, random() % 7 - 1);
      arguments.push_back({tensor});
    }
    auto results = reference::evaluate(main, arguments, 1);
    if (failed(results)) return ADD_FAILURE() << "not evaluated", reference::Tensor();
    return results->front().front();
  }

  MLIRContext context;
};

TEST_P(ExpandManual, MeansWhatTheRanksCompute) {
  auto module = parseSourceString<ModuleOp>(getText(GetParam()), &context);
  ASSERT_TRUE(module) << getText(GetParam());
  reference::Tensor before = evaluate(*module);
  PassManager passes(&context);
  passes.addPass(createExpandManualPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  EXPECT_FALSE(module
                   ->walk([](Operation* op) {
                     return isa<ManualComputationOp, PermuteRanksOp>(op) || isa<spmd::SpmdDialect>(op->getDialect())
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   })
                   .wasInterrupted());
  reference::Tensor after = evaluate(*module);
  EXPECT_EQ(before.type, after.type);
  EXPECT_EQ(before.floats, after.floats);
}

INSTANTIATE_TEST_SUITE_P(, ExpandManual, ::testing::ValuesIn(kBodies),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mlir::sgd
