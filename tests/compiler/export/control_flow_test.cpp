// Loops and branches: what they run follows them, and works in memory of the program.
#include <gtest/gtest.h>

#include "tests/compiler/export/compiled.h"

namespace mlir::sgd {
namespace {

using artifact::Operation;

TEST(ExportControlFlow, ALoopMultipliesWorkByItsTrips) {
  auto file = compileToFile(R"(
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = sgd.while (%x) trips 7 do {
  ^bb0(%a: tensor<64xf32>):
    %b = math.exp %a : tensor<64xf32>
    sgd.yield %b : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
})");
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  auto loops = findInstructions(program, Operation::Loop);
  ASSERT_EQ(loops.size(), 1u);
  const artifact::Loop& loop = *loops[0]->op_as_Loop();
  EXPECT_EQ(loop.trips(), 7u);
  EXPECT_EQ(loop.condition(), 0u);
  EXPECT_EQ(loop.predicate(), nullptr);
  EXPECT_EQ(getPlace(program, *loops[0]), "step.mlir:3:8");
  // The body is what follows, to the end of the program: nothing else is behind it here but a copy of the result.
  EXPECT_GE(loop.body(), 1u);
  auto launches = findInstructions(program, Operation::Launch);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(getPlace(program, *launches[0]), "step.mlir:5:10");
  EXPECT_GT(launches[0]->flops(), 0u);
  EXPECT_EQ(program.flops(), 7 * launches[0]->flops());
}

TEST(ExportControlFlow, AConditionIsInFrontOfTheBody) {
  auto file = compileToFile(R"(
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0:2 = sgd.while (%x, %n) while {
  ^bb0(%a: tensor<4xf32>, %i: tensor<i32>):
    %ten = arith.constant dense<10> : tensor<i32>
    %more = arith.cmpi slt, %i, %ten : tensor<i32>
    sgd.yield %more : tensor<i1>
  } do {
  ^bb0(%a: tensor<4xf32>, %i: tensor<i32>):
    %one = arith.constant dense<1> : tensor<i32>
    %b = math.exp %a : tensor<4xf32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %b, %j : tensor<4xf32>, tensor<i32>
  } : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  return %0#0 : tensor<4xf32>
})");
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  auto loops = findInstructions(program, Operation::Loop);
  ASSERT_EQ(loops.size(), 1u);
  const artifact::Loop& loop = *loops[0]->op_as_Loop();
  EXPECT_EQ(loop.trips(), 0u);
  ASSERT_EQ(loop.condition(), 1u);
  unsigned at = 0;
  while (program.instructions()->Get(at) != loops[0]) ++at;
  const artifact::Launch* compare = program.instructions()->Get(at + 1)->op_as_Launch();
  ASSERT_TRUE(compare);
  EXPECT_EQ(getPlace(program, *program.instructions()->Get(at + 1)), "step.mlir:6:13");
  // The predicate is one byte, where the comparison writes.
  ASSERT_TRUE(loop.predicate());
  EXPECT_EQ(loop.predicate()->size(), 1u);
  EXPECT_EQ(compare->buffers()->Get(compare->buffers()->size() - 1)->offset(), loop.predicate()->offset());
  EXPECT_LE(at + 1 + loop.condition() + loop.body(), program.instructions()->size());
}

TEST(ExportControlFlow, BranchesReadWhatTheirCallerPasses) {
  auto file = compileToFile(R"(
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0 = sgd.case %n (%x) {
  ^bb0(%a: tensor<4xf32>):
    %b = math.exp %a : tensor<4xf32>
    sgd.yield %b : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    %b = math.tanh %a : tensor<4xf32>
    sgd.yield %b : tensor<4xf32>
  } : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})");
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  auto cases = findInstructions(program, Operation::Case);
  ASSERT_EQ(cases.size(), 1u);
  const artifact::Case& branches = *cases[0]->op_as_Case();
  EXPECT_EQ(toNumbers(branches.branches()), (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(branches.index()->offset(), program.inputs()->Get(1)->slice()->offset());
  auto launches = findInstructions(program, Operation::Launch);
  ASSERT_EQ(launches.size(), 2u);
  for (const artifact::Instruction* instruction : launches) {
    const auto& buffers = *instruction->op_as_Launch()->buffers();
    ASSERT_EQ(buffers.size(), 2u);
    EXPECT_EQ(buffers[0]->offset(), program.inputs()->Get(0)->slice()->offset());
    EXPECT_EQ(buffers[1]->offset(), program.outputs()->Get(0)->slice()->offset());
  }
}

}  // namespace
}  // namespace mlir::sgd
