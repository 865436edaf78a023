// Compiled clusters with reductions against the reference evaluator: rows, columns, kinds, types and what is stored
// when.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/targets/kernels/kernel_check.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

TEST(Reduce, Rows) {
  for (auto [rows, columns] : {std::pair{1, 1}, {3, 7}, {5, 17}, {4, 33}, {2, 64}, {9, 384}, {3, 1000}, {6, 1}}) {
    std::string matrix = shape({rows, columns}, "f32"), row = shape({rows}, "f32");
    check(cluster(matrix, row + "; " + row, "%x: " + matrix,
                  "%0 = sgd.reduce add %x dimensions = [1] : " + matrix + " -> " + row +
                      "\n%1 = sgd.reduce max %x dimensions = [1] : " + matrix + " -> " + row +
                      "\nfusion.yield %0, %1 : " + row + ", " + row));
    if (HasFatalFailure()) return;
  }
}

TEST(Reduce, Columns) {
  for (auto [rows, columns] : {std::pair{3, 7}, {17, 5}, {4, 33}, {50, 64}, {33, 130}, {9, 384}}) {
    std::string matrix = shape({rows, columns}, "f32"), row = shape({columns}, "f32");
    check(cluster(matrix + "; " + matrix, row + "; " + row, "%x: " + matrix + ", %y: " + matrix,
                  "%0 = sgd.reduce add %x dimensions = [0] : " + matrix + " -> " + row +
                      "\n%p = arith.mulf %x, %y : " + matrix + "\n%1 = sgd.reduce add %p dimensions = [0] : " + matrix +
                      " -> " + row + "\nfusion.yield %0, %1 : " + row + ", " + row));
    if (HasFatalFailure()) return;
  }
}

TEST(Reduce, Softmax) {
  for (auto [rows, columns] : {std::pair{3, 7}, {17, 10}, {4, 33}, {5, 64}, {3, 130}, {2, 1000}}) {
    std::string matrix = shape({rows, columns}, "f32"), row = shape({rows}, "f32");
    check(cluster(matrix, matrix + "; " + row, "%x: " + matrix,
                  "%m = sgd.reduce max %x dimensions = [1] : " + matrix + " -> " + row +
                      "\n%mb = sgd.broadcast_in_dim %m dims = [0] : " + row + " -> " + matrix +
                      "\n%c = arith.subf %x, %mb : " + matrix + "\n%e = math.exp %c : " + matrix +
                      "\n%s = sgd.reduce add %e dimensions = [1] : " + matrix + " -> " + row +
                      "\n%sb = sgd.broadcast_in_dim %s dims = [0] : " + row + " -> " + matrix +
                      "\n%r = arith.divf %e, %sb : " + matrix + "\nfusion.yield %r, %s : " + matrix + ", " + row));
    if (HasFatalFailure()) return;
  }
}

TEST(Reduce, MiddleAndSeveralDimensions) {
  check(
      cluster("tensor<3x5x7x33xf32>", "tensor<3x7xf32>", "%x: tensor<3x5x7x33xf32>",
              "%0 = sgd.reduce add %x dimensions = [1, 3] : tensor<3x5x7x33xf32> -> tensor<3x7xf32>\nfusion.yield %0 : "
              "tensor<3x7xf32>"));
  check(cluster("tensor<3x5x40xf32>", "tensor<3x40xf32>", "%x: tensor<3x5x40xf32>",
                "%0 = sgd.reduce max %x dimensions = [1] : tensor<3x5x40xf32> -> tensor<3x40xf32>\nfusion.yield %0 : "
                "tensor<3x40xf32>"));
  check(cluster("tensor<37x41xf32>", "tensor<f32>", "%x: tensor<37x41xf32>",
                "%p = arith.mulf %x, %x : tensor<37x41xf32>\n%0 = sgd.reduce add %p dimensions = [0, 1] : "
                "tensor<37x41xf32> -> tensor<f32>\nfusion.yield %0 : tensor<f32>"));
}

TEST(Reduce, KindsAndTypes) {
  for (auto [type, kind] : {std::pair{"i32", "add"},
                            {"i32", "max"},
                            {"i32", "umin"},
                            {"i8", "mul"},
                            {"i64", "xor"},
                            {"i1", "and"},
                            {"i1", "or"},
                            {"f64", "min"},
                            {"f16", "max"}}) {
    std::string matrix = shape({5, 37}, type), row = shape({5}, type), column = shape({37}, type);
    std::string op = std::string("%0 = sgd.reduce ") + kind;
    bool isBool = std::string(type) == "i1";
    auto prepare = [&](std::vector<Tensor>& inputs) {
      if (!isBool) return;
      for (int64_t i = 0; i < inputs[0].size(); ++i) inputs[0].setInteger(i, i % 3 != 0);
    };
    check(cluster(matrix, row, "%x: " + matrix,
                  op + " %x dimensions = [1] : " + matrix + " -> " + row + "\nfusion.yield %0 : " + row),
          1e-12, prepare);
    check(cluster(matrix, column, "%x: " + matrix,
                  op + " %x dimensions = [0] : " + matrix + " -> " + column + "\nfusion.yield %0 : " + column),
          1e-12, prepare);
    if (HasFatalFailure()) return;
  }
}

TEST(Reduce, NanAndInfinity) {
  auto prepare = [](std::vector<Tensor>& inputs) {
    inputs[0].set(3, std::nan(""));
    inputs[0].set(40, -INFINITY);
    inputs[0].set(77, INFINITY);
  };
  check(cluster("tensor<4x33xf32>", "tensor<4xf32>; tensor<4xf32>", "%x: tensor<4x33xf32>",
                "%0 = sgd.reduce max %x dimensions = [1] : tensor<4x33xf32> -> tensor<4xf32>\n%1 = sgd.reduce min %x "
                "dimensions = [1] : tensor<4x33xf32> -> tensor<4xf32>\n"
                "fusion.yield %0, %1 : tensor<4xf32>, tensor<4xf32>"),
        1e-6, prepare);
}

TEST(Reduce, NarrowFloats) {
  for (const char* type : {"bf16", "f16"}) {
    std::string matrix = shape({6, 50}, type), row = shape({6}, type);
    check(cluster(matrix, row + "; " + matrix, "%x: " + matrix,
                  "%p = arith.mulf %x, %x : " + matrix + "\n%0 = sgd.reduce add %p dimensions = [1] : " + matrix +
                      " -> " + row + "\n%b = sgd.broadcast_in_dim %0 dims = [0] : " + row + " -> " + matrix +
                      "\n%q = arith.divf %p, %b : " + matrix + "\nfusion.yield %0, %q : " + row + ", " + matrix),
          std::string(type) == "bf16" ? 8e-3 : 1e-3);
    if (HasFatalFailure()) return;
  }
}

// Row values, sums of columns that are also stored, and what overwrites an operand that a later walk reads.
TEST(Reduce, ColumnsAndWhatIsSummed) {
  for (auto [rows, columns] : {std::pair{3, 7}, {17, 64}, {9, 1030}, {40, 300}, {300, 300}}) {
    std::string matrix = shape({rows, columns}, "f32"), row = shape({columns}, "f32"), scale = shape({rows}, "f32");
    check(cluster(matrix + "; " + scale, matrix + "; " + row + "; " + matrix, "%x: " + matrix + ", %s: " + scale,
                  "%t = math.tanh %s : " + scale + "\n%b = sgd.broadcast_in_dim %t dims = [0] : " + scale + " -> " +
                      matrix + "\n%p = arith.mulf %x, %b : " + matrix + "\n%0 = sgd.reduce add %p dimensions = [0] : " +
                      matrix + " -> " + row + "\n%c = sgd.broadcast_in_dim %0 dims = [1] : " + row + " -> " + matrix +
                      "\n%q = arith.subf %p, %c : " + matrix + "\nfusion.yield %p, %0, %q : " + matrix + ", " + row +
                      ", " + matrix));
    if (HasFatalFailure()) return;
  }
}

TEST(Reduce, ColumnsOfBooleans) {
  check(cluster("tensor<20x700xi1>", "tensor<700xi1>", "%x: tensor<20x700xi1>",
                "%0 = sgd.reduce or %x dimensions = [0] : tensor<20x700xi1> -> tensor<700xi1>\n"
                "fusion.yield %0 : tensor<700xi1>"),
        0, [](std::vector<Tensor>& inputs) {
          for (int64_t i = 0; i < inputs[0].size(); ++i) inputs[0].setInteger(i, i % 13 == 0);
        });
}

TEST(Reduce, ShortRowsSideBySide) {
  for (auto [rows, columns] : {std::pair{64, 1}, {65, 2}, {100, 10}, {300, 33}, {70, 40}}) {
    std::string matrix = shape({rows, columns}, "f32"), row = shape({rows}, "f32");
    check(cluster(matrix, matrix + "; " + row, "%x: " + matrix,
                  "%m = sgd.reduce max %x dimensions = [1] : " + matrix + " -> " + row +
                      "\n%mb = sgd.broadcast_in_dim %m dims = [0] : " + row + " -> " + matrix +
                      "\n%c = arith.subf %x, %mb : " + matrix + "\n%e = math.exp %c : " + matrix +
                      "\n%s = sgd.reduce add %e dimensions = [1] : " + matrix + " -> " + row + "\n%l = math.log %s : " +
                      row + "\n%lb = sgd.broadcast_in_dim %l dims = [0] : " + row + " -> " + matrix +
                      "\n%r = arith.mulf %e, %lb : " + matrix + "\nfusion.yield %r, %l : " + matrix + ", " + row));
    if (HasFatalFailure()) return;
  }
}

// The exponentials may be stored over the operand only when no later walk reads it: `%x` is read again at the end.
TEST(Reduce, StoresBeforeTheLastWalk) {
  for (int columns : {5, 64, 70000}) {
    std::string matrix = shape({3, columns}, "f32"), row = shape({3}, "f32");
    check(cluster(matrix, matrix + "; " + matrix, "%x: " + matrix,
                  "%e = math.exp %x : " + matrix + "\n%s = sgd.reduce add %e dimensions = [1] : " + matrix + " -> " +
                      row + "\n%sb = sgd.broadcast_in_dim %s dims = [0] : " + row + " -> " + matrix +
                      "\n%r = arith.divf %e, %sb : " + matrix + "\n%y = arith.addf %r, %x : " + matrix +
                      "\nfusion.yield %e, %y : " + matrix + ", " + matrix),
          1e-5);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
