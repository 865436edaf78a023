// Inputs, results and constants of a program: names, shapes, state.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/compiler/export/compiled.h"

namespace mlir::sgd {
namespace {

/// Seven columns over three ranks, so that the last one has a single column and padding.
const char* kStep = R"(
sgd.mesh @mesh = <["data"=2, "model"=3]>
func.func @main(%w: tensor<8x7xf32> {sgd.name = "w", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {"model"}]>}, %m: tensor<4xi1>)
    -> (tensor<8x7xf32> {sgd.carry = 0 : i64, sgd.name = "next", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<2xf32>) {
  %0 = math.exp %w : tensor<8x7xf32>
  %c = arith.constant dense<[0.5, 2.0]> : tensor<2xf32>
  return %0, %c : tensor<8x7xf32>, tensor<2xf32>
})";

TEST(ExportInputs, ShardedOnesHaveTwoShapes) {
  auto file = compileToFile(kStep);
  ASSERT_TRUE(file);
  const artifact::TensorInfo& type = *file->root().programs()->Get(0)->inputs()->Get(0)->type();
  EXPECT_EQ(toNumbers(type.global_dims()), (std::vector<uint64_t>{8, 7}));
  EXPECT_EQ(toNumbers(type.local_dims()), (std::vector<uint64_t>{4, 3}));
  ASSERT_EQ(type.sharding()->size(), 2u);
  const artifact::AxisRef& columns = *type.sharding()->Get(1)->axes()->Get(0);
  EXPECT_EQ(columns.axis(), 1u);
  EXPECT_EQ(columns.size(), 3u);
  EXPECT_EQ(file->root().programs()->Get(0)->inputs()->Get(0)->slice()->size(), 4u * 3 * 4);
  ASSERT_EQ(file->root().mesh()->size(), 2u);
  EXPECT_EQ(file->root().mesh()->Get(1)->name()->str(), "model");
}

TEST(ExportInputs, ThoseWithoutANameHaveTheirPosition) {
  auto file = compileToFile(kStep);
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  EXPECT_EQ(program.inputs()->Get(0)->name()->str(), "w");
  EXPECT_EQ(program.inputs()->Get(1)->name()->str(), "arg1");
  EXPECT_EQ(program.outputs()->Get(0)->name()->str(), "next");
  EXPECT_EQ(program.outputs()->Get(1)->name()->str(), "result1");
  const artifact::TensorInfo& mask = *program.inputs()->Get(1)->type();
  EXPECT_EQ(mask.element(), artifact::ElementType::Bool);
  EXPECT_EQ(artifact::Size(mask.sharding()), 0u);
}

TEST(ExportInputs, CarriedStateIsMarkedOnBothSides) {
  auto file = compileToFile(kStep);
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  EXPECT_TRUE(program.inputs()->Get(0)->state());
  EXPECT_FALSE(program.inputs()->Get(1)->state());
  EXPECT_EQ(program.outputs()->Get(0)->carry_input(), 0);
  EXPECT_EQ(program.outputs()->Get(1)->carry_input(), -1);
}

TEST(ExportInputs, ConstantsAreInTheirOwnSpace) {
  auto file = compileToFile(kStep);
  ASSERT_TRUE(file);
  ASSERT_GE(file->root().constant_bytes(), 8u);
  // The result is a copy of a constant of two numbers.
  auto copies = findInstructions(*file->root().programs()->Get(0), artifact::Operation::Copy);
  ASSERT_EQ(copies.size(), 1u);
  const artifact::Slice& source = *copies[0]->op_as_Copy()->source();
  EXPECT_EQ(source.space(), artifact::Space::Constant);
  ASSERT_EQ(source.size(), 8u);
  float numbers[2];
  memcpy(numbers, file->constants().data() + source.offset(), sizeof(numbers));
  EXPECT_EQ(numbers[0], 0.5f);
  EXPECT_EQ(numbers[1], 2.0f);
}

}  // namespace
}  // namespace mlir::sgd
