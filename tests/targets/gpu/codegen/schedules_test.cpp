// Kernels that only GPUs have: wide accesses of many points, tiles with edges, rows of one to several warps, scatters
// in parts; each by value, and as the schedule that it is meant to get.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/schedule.h"

#include <gtest/gtest.h>

#include "mlir/Parser/Parser.h"
#include "tests/targets/kernels/kernel_check.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;
using gpu::Schedule;

namespace {

Schedule scheduleOf(const std::string& text) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  fusion::ClusterOp cluster;
  module->walk([&](fusion::ClusterOp op) { cluster = op; });
  FailureOr<KernelPlan> plan = planKernel(cluster, WalkStyle::Threads);
  EXPECT_TRUE(succeeded(plan));
  return succeeded(plan) ? gpu::makeSchedule(*plan) : Schedule();
}

/// x * 2 of some type, with a row added to each row.
std::string scaled(int rows, int columns, const std::string& type) {
  std::string matrix = shape({rows, columns}, type), row = shape({columns}, type);
  return cluster(matrix + "; " + row, matrix, "%x: " + matrix + ", %r: " + row,
                 "%b = sgd.broadcast_in_dim %r dims = [1] : " + row + " -> " + matrix + "\n%0 = arith.addf %x, %x : " +
                     matrix + "\n%1 = arith.addf %0, %b : " + matrix + "\nfusion.yield %1 : " + matrix);
}

TEST(Points, AccessesAreAsWideAsRowsAllow) {
  EXPECT_EQ(scheduleOf(scaled(512, 256, "f32")).lanes, 4u);
  EXPECT_EQ(scheduleOf(scaled(512, 250, "f32")).lanes, 2u);
  EXPECT_EQ(scheduleOf(scaled(512, 251, "f32")).lanes, 1u);
  EXPECT_EQ(scheduleOf(scaled(512, 256, "bf16")).lanes, 8u);
  EXPECT_EQ(scheduleOf(scaled(512, 256, "f64")).lanes, 2u);
  EXPECT_EQ(scheduleOf(scaled(64, 64, "f32")).lanes, 1u) << "few points: more threads instead";
}

TEST(Points, WideAccesses) {
  for (int columns : {256, 250, 251}) {
    check(scaled(300, columns, "f32"), 0);
    if (HasFatalFailure()) return;
  }
  check(scaled(520, 256, "bf16"), 0);
  // An operand that begins between two wide accesses, and one of which every second element is read.
  check(cluster("tensor<260x260xf32>; tensor<260x512xf32>", "tensor<260x256xf32>",
                "%x: tensor<260x260xf32>, %y: tensor<260x512xf32>",
                "%0 = sgd.slice %x starts = [0, 1] limits = [260, 257] strides = [1, 1] : tensor<260x260xf32> -> "
                "tensor<260x256xf32>\n%1 = sgd.slice %y starts = [0, 0] limits = [260, 512] strides = [1, 2] : "
                "tensor<260x512xf32> -> tensor<260x256xf32>\n%2 = arith.addf %0, %1 : tensor<260x256xf32>\n"
                "fusion.yield %2 : tensor<260x256xf32>"),
        0);
  // A seam and a padding within rows of wide accesses.
  check(cluster("tensor<260x128xf32>; tensor<260x120xf32>", "tensor<260x256xf32>",
                "%x: tensor<260x128xf32>, %y: tensor<260x120xf32>",
                "%z = arith.constant dense<2.0> : tensor<f32>\n"
                "%0 = sgd.concatenate %x, %y dimension = 1 : (tensor<260x128xf32>, tensor<260x120xf32>) -> "
                "tensor<260x248xf32>\n%1 = sgd.pad %0, %z low = [0, 3] high = [0, 5] interior = [0, 0] : "
                "tensor<260x248xf32>, tensor<f32> -> tensor<260x256xf32>\nfusion.yield %1 : tensor<260x256xf32>"),
        0);
}

std::string transposed(int rows, int columns) {
  std::string from = shape({rows, columns}, "f32"), to = shape({columns, rows}, "f32");
  return cluster(from + "; " + to, to, "%x: " + from + ", %y: " + to,
                 "%0 = sgd.transpose %x permutation = [1, 0] : " + from + " -> " + to +
                     "\n%1 = arith.subf %0, %y : " + to + "\nfusion.yield %1 : " + to);
}

TEST(Tiles, WithEdges) {
  EXPECT_EQ(scheduleOf(transposed(64, 96)).kind, Schedule::Kind::Tiles);
  EXPECT_EQ(scheduleOf(transposed(64, 96)).blocks, 6);
  EXPECT_EQ(scheduleOf(transposed(4, 96)).kind, Schedule::Kind::Points) << "too narrow for tiles";
  for (auto [rows, columns] : {std::pair{64, 96}, {33, 31}, {8, 100}, {65, 9}}) {
    check(transposed(rows, columns), 0);
    if (HasFatalFailure()) return;
  }
}

std::string rowSums(int rows, int columns) {
  std::string matrix = shape({rows, columns}, "f32"), row = shape({rows}, "f32");
  return cluster(matrix, row + "; " + matrix, "%x: " + matrix,
                 "%0 = sgd.reduce add %x dimensions = [1] : " + matrix + " -> " + row +
                     "\n%b = sgd.broadcast_in_dim %0 dims = [0] : " + row + " -> " + matrix +
                     "\n%1 = arith.subf %x, %b : " + matrix + "\nfusion.yield %0, %1 : " + row + ", " + matrix);
}

TEST(Rows, ShareBlocksOrTakeSeveralWarps) {
  struct Expected {
    int columns;
    unsigned lanes, slices, held;
  };
  // Lanes of 16 bytes; two chunks for each thread; rows that fit stay in registers.
  for (Expected e : {Expected{4, 4, 1, 1},
                     {7, 1, 1, 7},
                     {64, 4, 8, 2},
                     {1024, 4, 128, 2},
                     {8192, 4, 512, 4},
                     {65536, 4, 512, 0},
                     {1023, 1, 128, 8}}) {
    Schedule schedule = scheduleOf(rowSums(3, e.columns));
    EXPECT_EQ(schedule.kind, Schedule::Kind::Rows) << e.columns;
    EXPECT_EQ(schedule.lanes, e.lanes) << e.columns;
    EXPECT_EQ(schedule.slices, e.slices) << e.columns;
    EXPECT_EQ(schedule.held, e.held) << e.columns;
  }
  for (auto [rows, columns] : {std::pair{5, 4}, {70, 7}, {37, 64}, {3, 1023}, {2, 1028}, {1, 8192}, {2, 20000}}) {
    check(rowSums(rows, columns), 1e-5);
    if (HasFatalFailure()) return;
  }
}

TEST(Rows, ValuesOfManyReadersAreComputedOnce) {
  // Of a row that registers do not hold. Each value is read twice by the next: 2^40 ways to the first.
  std::string matrix = shape({1, 20000}, "f32"), row = shape({1}, "f32"), body, last = "%x";
  for (int i = 0; i < 40; ++i) {
    std::string next = "%v" + std::to_string(i);
    body += next + "_half = arith.mulf " + last + ", %half : " + matrix + "\n" + next + " = arith.addf " + next +
            "_half, " + next + "_half : " + matrix + "\n";
    last = next;
  }
  check(cluster(matrix, row, "%x: " + matrix,
                "%half = arith.constant dense<0.5> : " + matrix + "\n" + body + "%0 = sgd.reduce add " + last +
                    " dimensions = [1] : " + matrix + " -> " + row + "\nfusion.yield %0 : " + row),
        1e-5);
}

TEST(Columns, ThreadsShareLongOnes) {
  std::string matrix = shape({200, 100}, "f32"), row = shape({100}, "f32");
  std::string text =
      cluster(matrix, row, "%x: " + matrix,
              "%0 = sgd.reduce add %x dimensions = [0] : " + matrix + " -> " + row + "\nfusion.yield %0 : " + row);
  Schedule schedule = scheduleOf(text);
  EXPECT_EQ(schedule.kind, Schedule::Kind::Columns);
  EXPECT_EQ(schedule.slices, 8u);
  EXPECT_EQ(schedule.blocks, 4);
  check(text);
}

TEST(Scatter, UpdatesOfAnElementComeInOrder) {
  // Sixty updates of seven elements: rounding shows the order.
  std::string text = cluster("tensor<7xf32>; tensor<60x1xi32>; tensor<60xf32>", "tensor<7xf32>",
                             "%x: tensor<7xf32>, %i: tensor<60x1xi32>, %u: tensor<60xf32>",
                             "%0 = sgd.scatter add %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = "
                             "array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, "
                             "scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : "
                             "(tensor<7xf32>, tensor<60x1xi32>, tensor<60xf32>) -> tensor<7xf32>\n"
                             "fusion.yield %0 : tensor<7xf32>");
  EXPECT_EQ(scheduleOf(text).kind, Schedule::Kind::Scatter);
  EXPECT_EQ(scheduleOf(text).parts, 7);
  KernelRunner runner(text);
  ASSERT_TRUE(runner.ok());
  std::vector<Tensor> inputs = runner.makeInputs();
  std::vector<float> expected(7);
  for (int i = 0; i < 7; ++i) expected[i] = static_cast<float>(inputs[0].get(i));
  for (int i = 0; i < 60; ++i) {
    inputs[1].setInteger(i, i * 5 % 9);
    if (i * 5 % 9 < 7) expected[i * 5 % 9] += static_cast<float>(inputs[2].get(i));
  }
  std::vector<Tensor> results = runner.run(inputs);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(static_cast<float>(results[0].get(i)), expected[i]);
}

/// Rows of `columns` are added to rows of a table, some of which meet and some lie outside.
void checkRowUpdates(int rows, int columns, int updates, Schedule::Kind kind) {
  std::string table = shape({rows, columns}, "f32"), index = shape({updates, 1}, "i32"),
              update = shape({updates, columns}, "f32");
  std::string text =
      cluster(table + "; " + index + "; " + update, table, "%x: " + table + ", %i: " + index + ", %u: " + update,
              "%0 = sgd.scatter add %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims "
              "= array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = array<i64>, "
              "scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (" +
                  table + ", " + index + ", " + update + ") -> " + table + "\nfusion.yield %0 : " + table);
  EXPECT_EQ(scheduleOf(text).kind, kind);
  KernelRunner runner(text);
  ASSERT_TRUE(runner.ok());
  std::vector<Tensor> inputs = runner.makeInputs();
  std::vector<float> expected(rows * columns);
  for (int i = 0; i < rows * columns; ++i) expected[i] = static_cast<float>(inputs[0].get(i));
  for (int i = 0; i < updates; ++i) {
    int row = i * 5 % (rows + 2);
    inputs[1].setInteger(i, row);
    for (int j = 0; j < columns && row < rows; ++j)
      expected[row * columns + j] += static_cast<float>(inputs[2].get(i * columns + j));
  }
  std::vector<Tensor> results = runner.run(inputs);
  for (int i = 0; i < rows * columns; ++i) ASSERT_EQ(static_cast<float>(results[0].get(i)), expected[i]) << i;
}

TEST(Scatter, BlocksLookForUpdatesTogether) {
  checkRowUpdates(7, 40, 200, Schedule::Kind::ScatterTogether);
  checkRowUpdates(1, 129, 32, Schedule::Kind::ScatterTogether);
  checkRowUpdates(600, 300, 131, Schedule::Kind::ScatterTogether);
  checkRowUpdates(7, 40, 31, Schedule::Kind::Scatter);
  checkRowUpdates(7, 5, 200, Schedule::Kind::Scatter);
}

}  // namespace
