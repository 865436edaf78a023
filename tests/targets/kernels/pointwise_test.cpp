// Compiled clusters without reductions against the reference evaluator, over shapes and element types.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/targets/kernels/kernel_check.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

TEST(Elementwise, BiasAndGelu) {
  for (auto [rows, columns] : {std::pair{1, 1}, {3, 7}, {5, 17}, {4, 33}, {2, 64}, {9, 384}, {70, 100}}) {
    std::string matrix = shape({rows, columns}, "f32"), bias = shape({columns}, "f32");
    check(cluster(matrix + "; " + matrix + "; " + bias, matrix, "%x: " + matrix + ", %w: " + matrix + ", %b: " + bias,
                  "%0 = sgd.broadcast_in_dim %b dims = [1] : " + bias + " -> " + matrix +
                      "\n%1 = arith.mulf %x, %w : " + matrix + "\n%2 = arith.addf %1, %0 : " + matrix +
                      "\n%3 = math.tanh %2 : " + matrix + "\n%4 = arith.mulf %3, %2 : " + matrix +
                      "\nfusion.yield %4 : " + matrix));
    if (HasFatalFailure()) return;
  }
}

TEST(Elementwise, Flat) {
  for (int size : {1, 3, 7, 17, 33, 511, 512, 513, 5000}) {
    std::string type = shape({size}, "f32");
    check(cluster(
        type + "; " + type, type, "%x: " + type + ", %y: " + type,
        "%0 = arith.subf %x, %y : " + type + "\n%1 = arith.divf %0, %y : " + type + "\nfusion.yield %1 : " + type));
    if (HasFatalFailure()) return;
  }
}

/// One op over all pairs of difficult values of an integer type.
void checkIntegers(const std::string& op, const std::string& type, ArrayRef<int64_t> values) {
  std::string tensor = shape({static_cast<int>(values.size() * values.size())}, type);
  check(cluster(tensor + "; " + tensor, tensor, "%x: " + tensor + ", %y: " + tensor,
                "%0 = " + op + " %x, %y : " + tensor + "\nfusion.yield %0 : " + tensor),
        0, [&](std::vector<Tensor>& inputs) {
          for (size_t i = 0; i < values.size() * values.size(); ++i)
            inputs[0].setInteger(i, values[i / values.size()]), inputs[1].setInteger(i, values[i % values.size()]);
        });
}

TEST(Integers, TotalOps) {
  for (auto [type, bits] : {std::pair{"i8", 8}, {"i16", 16}, {"i32", 32}, {"i64", 64}}) {
    int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
    SmallVector<int64_t> values = {0, 1, -1, 2, 3, -7, bits - 1, bits, bits + 1, most, -most - 1, most - 1};
    for (const char* op : {"sgd.divsi", "sgd.divui", "sgd.remsi", "sgd.remui", "sgd.shli", "sgd.shrui", "sgd.shrsi",
                           "arith.maxsi", "arith.minui", "arith.muli"}) {
      checkIntegers(op, type, values);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Conversions, FloatToIntSaturates) {
  for (const char* from : {"f32", "f64", "f16", "bf16"})
    for (const char* to : {"i8", "i32", "i64"})
      for (const char* op : {"sgd.fptosi", "sgd.fptoui"}) {
        std::string in = shape({21}, from), out = shape({21}, to);
        check(cluster(in, out, "%x: " + in,
                      std::string("%0 = ") + op + " %x : " + in + " to " + out + "\nfusion.yield %0 : " + out),
              0, [](std::vector<Tensor>& inputs) {
                const double values[] = {0,       -0.0, 0.5, -0.9,     1.5,      -1.5,         127,           128,
                                         -128,    -129, 255, 256,      3e4,      2147483648.0, -2147483649.0, 9.3e18,
                                         -9.3e18, 1e20, NAN, INFINITY, -INFINITY};
                for (int i = 0; i < 21; ++i) inputs[0].set(i, values[i]);
              });
        if (HasFatalFailure()) return;
      }
}

TEST(Conversions, BetweenTypes) {
  const std::pair<const char*, std::pair<const char*, const char*>> cases[] = {
      {"arith.extf", {"bf16", "f32"}},  {"arith.extf", {"f16", "f64"}},    {"arith.truncf", {"f32", "bf16"}},
      {"arith.truncf", {"f64", "f16"}}, {"arith.truncf", {"f64", "bf16"}}, {"arith.truncf", {"f64", "f32"}},
      {"arith.sitofp", {"i32", "f32"}}, {"arith.uitofp", {"i8", "bf16"}},  {"arith.uitofp", {"i1", "f32"}},
      {"arith.sitofp", {"i64", "f64"}}, {"arith.extsi", {"i8", "i32"}},    {"arith.extui", {"i1", "i64"}},
      {"arith.trunci", {"i64", "i8"}}};
  for (auto [op, types] : cases) {
    std::string in = shape({43}, types.first), out = shape({43}, types.second);
    bool isBool = std::string(types.first) == "i1";
    check(cluster(in, out, "%x: " + in,
                  std::string("%0 = ") + op + " %x : " + in + " to " + out + "\nfusion.yield %0 : " + out),
          1e-7, [&](std::vector<Tensor>& inputs) {
            inputs[0].fill(-100, 100, 5);
            for (int i = 0; isBool && i < 43; ++i) inputs[0].setInteger(i, i & 1);
          });
    if (HasFatalFailure()) return;
  }
}

TEST(Index, TransposeSliceReversePadConcatenate) {
  check(cluster("tensor<37x50xf32>; tensor<50x37xf32>", "tensor<50x37xf32>",
                "%x: tensor<37x50xf32>, %y: tensor<50x37xf32>",
                "%0 = sgd.transpose %x permutation = [1, 0] : tensor<37x50xf32> -> tensor<50x37xf32>\n%1 = arith.addf "
                "%0, %y : tensor<50x37xf32>\nfusion.yield %1 : tensor<50x37xf32>"));
  check(cluster("tensor<96x64xf32>; tensor<64x96xf32>", "tensor<64x96xf32>; tensor<64x96xf32>",
                "%x: tensor<96x64xf32>, %y: tensor<64x96xf32>",
                "%0 = sgd.transpose %x permutation = [1, 0] : tensor<96x64xf32> -> tensor<64x96xf32>\n%1 = arith.addf "
                "%0, %y : tensor<64x96xf32>\n%2 = arith.mulf %1, %y : tensor<64x96xf32>\n"
                "fusion.yield %1, %2 : tensor<64x96xf32>, tensor<64x96xf32>"));
  check(cluster("tensor<3x17x4x20xf32>", "tensor<4x3x20x17xf32>", "%x: tensor<3x17x4x20xf32>",
                "%0 = sgd.transpose %x permutation = [2, 0, 3, 1] : tensor<3x17x4x20xf32> -> "
                "tensor<4x3x20x17xf32>\nfusion.yield %0 : tensor<4x3x20x17xf32>"));
  check(cluster("tensor<2x6x16x32xbf16>", "tensor<2x16x192xbf16>", "%x: tensor<2x6x16x32xbf16>",
                "%0 = sgd.transpose %x permutation = [0, 2, 1, 3] : tensor<2x6x16x32xbf16> -> tensor<2x16x6x32xbf16>\n"
                "%1 = sgd.reshape %0 : tensor<2x16x6x32xbf16> -> tensor<2x16x192xbf16>\nfusion.yield %1 : "
                "tensor<2x16x192xbf16>"));
  check(cluster("tensor<9x40xf32>", "tensor<4x13xf32>", "%x: tensor<9x40xf32>",
                "%0 = sgd.slice %x starts = [1, 2] limits = [9, 40] strides = [2, 3] : tensor<9x40xf32> -> "
                "tensor<4x13xf32>\nfusion.yield %0 : tensor<4x13xf32>"));
  check(cluster("tensor<5x19xf32>", "tensor<5x19xf32>", "%x: tensor<5x19xf32>",
                "%0 = sgd.reverse %x dimensions = [0, 1] : tensor<5x19xf32>\nfusion.yield %0 : tensor<5x19xf32>"));
  check(cluster("tensor<5x19xf32>; tensor<f32>", "tensor<10x22xf32>", "%x: tensor<5x19xf32>, %v: tensor<f32>",
                "%0 = sgd.pad %x, %v low = [2, -1] high = [-1, 4] interior = [1, 0] : tensor<5x19xf32>, tensor<f32> -> "
                "tensor<10x22xf32>\nfusion.yield %0 : tensor<10x22xf32>"));
  check(cluster("tensor<5x7xf32>; tensor<5x30xf32>; tensor<5x1xf32>", "tensor<5x38xf32>",
                "%x: tensor<5x7xf32>, %y: tensor<5x30xf32>, %z: tensor<5x1xf32>",
                "%0 = sgd.concatenate %x, %y, %z dimension = 1 : (tensor<5x7xf32>, tensor<5x30xf32>, tensor<5x1xf32>) "
                "-> tensor<5x38xf32>\nfusion.yield %0 : tensor<5x38xf32>"));
  check(cluster("tensor<5x17xi32>", "tensor<5x17xi32>", "%x: tensor<5x17xi32>",
                "%0 = sgd.iota dimension = 1 : tensor<5x17xi32>\n%1 = sgd.iota dimension = 0 : tensor<5x17xi32>\n%2 = "
                "arith.addi %0, %1 : tensor<5x17xi32>\n%3 = arith.addi %2, %x : tensor<5x17xi32>\n"
                "fusion.yield %3 : tensor<5x17xi32>"),
        0);
}

// Seams between lanes and between vectors, along outer and inner dimensions, and in padding.
TEST(Index, Concatenate) {
  for (auto [left, right] : {std::pair{16, 16}, {7, 9}, {64, 32}, {1, 40}, {96, 96}}) {
    std::string a = shape({5, left}, "f32"), c = shape({5, right}, "f32"), e = shape({5, left + right + right}, "f32");
    std::string padded = shape({7, left + right + right + 3}, "f32");
    check(cluster(a + "; " + c, e, "%x: " + a + ", %y: " + c,
                  "%0 = sgd.concatenate %x, %y, %y dimension = 1 : (" + a + ", " + c + ", " + c + ") -> " + e +
                      "\nfusion.yield %0 : " + e),
          0);
    check(cluster(a + "; " + c, padded, "%x: " + a + ", %y: " + c,
                  "%0 = sgd.concatenate %x, %y, %y dimension = 1 : (" + a + ", " + c + ", " + c + ") -> " + e +
                      "\n%z = arith.constant dense<2.0> : tensor<f32>\n%1 = sgd.pad %0, %z low = [1, 2] high = [1, 1] "
                      "interior = [0, 0] : " +
                      e + ", tensor<f32> -> " + padded + "\nfusion.yield %1 : " + padded),
          0);
    if (HasFatalFailure()) return;
  }
}

// Every second element, backwards, and parts of vectors at both ends of the operand.
TEST(Index, ElementsNearEachOther) {
  for (const char* type : {"f32", "bf16", "i1", "f64"})
    for (int columns : {1, 33, 64, 200}) {
      std::string in = shape({2, 3 * columns}, type), out = shape({2, columns}, type);
      check(cluster(in, out + "; " + out, "%x: " + in,
                    "%s = sgd.slice %x starts = [0, 2] limits = [2, " + std::to_string(3 * columns) +
                        "] strides = [1, 3] : " + in + " -> " + out + "\n%r = sgd.reverse %s dimensions = [1] : " +
                        out + "\nfusion.yield %s, %r : " + out + ", " + out),
            0, [&](std::vector<Tensor>& inputs) {
              for (int64_t i = 0; i < inputs[0].size() && StringRef(type) == "i1"; ++i)
                inputs[0].setInteger(i, i % 3 == 0 || i % 5 == 0);
            });
      if (HasFatalFailure()) return;
    }
}

TEST(Index, DynamicSlices) {
  for (int start : {-5, 0, 3, 100}) {
    auto prepare = [&](std::vector<Tensor>& inputs) {
      for (Tensor& input : inputs)
        if (input.size() == 1) input.setInteger(0, start);
    };
    check(cluster("tensor<9x40xf32>; tensor<i32>; tensor<i32>", "tensor<4x21xf32>",
                  "%x: tensor<9x40xf32>, %i: tensor<i32>, %j: tensor<i32>",
                  "%0 = sgd.dynamic_slice %x, %i, %j sizes = [4, 21] : (tensor<9x40xf32>, tensor<i32>, tensor<i32>) -> "
                  "tensor<4x21xf32>\nfusion.yield %0 : tensor<4x21xf32>"),
          0, prepare);
    check(cluster("tensor<9x40xf32>; tensor<4x21xf32>; tensor<i32>; tensor<i32>", "tensor<9x40xf32>",
                  "%x: tensor<9x40xf32>, %u: tensor<4x21xf32>, %i: tensor<i32>, %j: tensor<i32>",
                  "%0 = sgd.dynamic_update_slice %x, %u, %i, %j : (tensor<9x40xf32>, tensor<4x21xf32>, tensor<i32>, "
                  "tensor<i32>) -> tensor<9x40xf32>\nfusion.yield %0 : tensor<9x40xf32>"),
          0, prepare);
    if (HasFatalFailure()) return;
  }
}

const char* const kRowGather =
    "%0 = sgd.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims "
    "= array<i64>, indices_batching_dims = array<i64>, "
    "start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 33>} : "
    "(tensor<11x33xf32>, tensor<6x1xi32>) -> tensor<6x33xf32>\nfusion.yield %0 : tensor<6x33xf32>";

TEST(Index, GatherClamps) {
  auto prepare = [](std::vector<Tensor>& inputs) {
    const int64_t indices[] = {0, 10, 11, -1, 5, INT32_MIN};
    for (int i = 0; i < 6; ++i) inputs[1].setInteger(i, indices[i]);
  };
  check(cluster("tensor<11x33xf32>; tensor<6x1xi32>", "tensor<6x33xf32>", "%x: tensor<11x33xf32>, %i: tensor<6x1xi32>",
                kRowGather),
        0, prepare);
  check(cluster("tensor<6x33xf32>; tensor<6x1xi32>", "tensor<6x1xf32>", "%x: tensor<6x33xf32>, %i: tensor<6x1xi32>",
                "%r = sgd.reshape %i : tensor<6x1xi32> -> tensor<6x1x1xi32>\n"
                "%0 = sgd.gather %x, %r {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 1>, "
                "operand_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, "
                "start_index_map = array<i64: 1>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 1>} : "
                "(tensor<6x33xf32>, tensor<6x1x1xi32>) -> tensor<6x1xf32>\nfusion.yield %0 : tensor<6x1xf32>"),
        0, prepare);
}

TEST(Index, ScatterDropsWhatLiesOutside) {
  auto prepare = [](std::vector<Tensor>& inputs) {
    const int64_t indices[] = {0, 10, 11, -1, 5, 5};
    for (int i = 0; i < 6; ++i) inputs[1].setInteger(i, indices[i]);
  };
  for (const char* kind : {"add", "set", "max"})
    check(cluster("tensor<11x33xf32>; tensor<6x1xi32>; tensor<6x33xf32>", "tensor<11x33xf32>",
                  "%x: tensor<11x33xf32>, %i: tensor<6x1xi32>, %u: tensor<6x33xf32>",
                  std::string("%0 = sgd.scatter ") + kind +
                      " %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
                      "input_batching_dims = array<i64>, indices_batching_dims = array<i64>, "
                      "scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<11x33xf32>, "
                      "tensor<6x1xi32>, tensor<6x33xf32>) -> tensor<11x33xf32>\n"
                      "fusion.yield %0 : tensor<11x33xf32>"),
          1e-6, prepare);
  // Windows at an offset in both dimensions; one lies partly outside.
  check(cluster("tensor<7x9xf32>; tensor<3x2xi32>; tensor<3x2x4xf32>", "tensor<7x9xf32>",
                "%x: tensor<7x9xf32>, %i: tensor<3x2xi32>, %u: tensor<3x2x4xf32>",
                "%0 = sgd.scatter add %x, %i, %u {update_window_dims = array<i64: 1, 2>, inserted_window_dims = "
                "array<i64>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, "
                "scatter_dims_to_operand_dims = array<i64: 0, 1>, index_vector_dim = 1 : i64} : (tensor<7x9xf32>, "
                "tensor<3x2xi32>, tensor<3x2x4xf32>) -> tensor<7x9xf32>\n"
                "fusion.yield %0 : tensor<7x9xf32>"),
        1e-6, [](std::vector<Tensor>& inputs) {
          const int64_t indices[] = {1, 2, 5, 5, 6, 1};
          for (int i = 0; i < 6; ++i) inputs[1].setInteger(i, indices[i]);
        });
  // One update per row: no two meet.
  check(cluster("tensor<6x33xf32>; tensor<6x1xi32>; tensor<6x1xf32>", "tensor<6x33xf32>",
                "%x: tensor<6x33xf32>, %i: tensor<6x1xi32>, %u: tensor<6x1xf32>",
                "%r = sgd.reshape %i : tensor<6x1xi32> -> tensor<6x1x1xi32>\n"
                "%0 = sgd.scatter add %x, %r, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: "
                "1>, input_batching_dims = array<i64: 0>, indices_batching_dims = array<i64: 0>, "
                "scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 2 : i64} : (tensor<6x33xf32>, "
                "tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x33xf32>\nfusion.yield %0 : tensor<6x33xf32>"),
        1e-6, prepare);
}

TEST(Zero, EmptyResultsBesideOthers) {
  check(cluster("tensor<0x5xf32>; tensor<9xf32>", "tensor<0x5xf32>; tensor<9xf32>; tensor<0xf32>",
                "%x: tensor<0x5xf32>, %y: tensor<9xf32>",
                "%0 = arith.negf %x : tensor<0x5xf32>\n%1 = arith.negf %y : tensor<9xf32>\n"
                "%2 = sgd.reduce add %0 dimensions = [1] : tensor<0x5xf32> -> tensor<0xf32>\n"
                "fusion.yield %0, %1, %2 : tensor<0x5xf32>, tensor<9xf32>, tensor<0xf32>"));
  check(cluster("tensor<0x5xf32>; tensor<9x7xf32>", "tensor<0x5xf32>; tensor<9xf32>",
                "%x: tensor<0x5xf32>, %y: tensor<9x7xf32>",
                "%0 = arith.negf %x : tensor<0x5xf32>\n"
                "%1 = sgd.reduce add %y dimensions = [1] : tensor<9x7xf32> -> tensor<9xf32>\n"
                "fusion.yield %0, %1 : tensor<0x5xf32>, tensor<9xf32>"));
}

TEST(Zero, EmptyTensorsAreAllowed) {
  check(cluster("tensor<0x5xf32>", "tensor<0x5xf32>", "%x: tensor<0x5xf32>",
                "%0 = arith.negf %x : tensor<0x5xf32>\nfusion.yield %0 : tensor<0x5xf32>"));
  check(cluster(
      "tensor<5x0xf32>", "tensor<5xf32>", "%x: tensor<5x0xf32>",
      "%0 = sgd.reduce max %x dimensions = [1] : tensor<5x0xf32> -> tensor<5xf32>\nfusion.yield %0 : tensor<5xf32>"));
}

}  // namespace
