// Matmuls: sizes and strides of operands in whatever order their dimensions are, and epilogues.
#include <gtest/gtest.h>

#include "tests/compiler/export/compiled.h"

namespace mlir::sgd {
namespace {

using artifact::Operation;

const artifact::Matmul* findMatmul(const artifact::ArtifactFile& file) {
  auto found = findInstructions(*file.root().programs()->Get(0), Operation::Matmul);
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? nullptr : found[0]->op_as_Matmul();
}

std::vector<artifact::EpilogueStep> toSteps(const artifact::Matmul& matmul) {
  std::vector<artifact::EpilogueStep> steps;
  if (matmul.epilogue() != nullptr)
    for (auto step : *matmul.epilogue()) steps.push_back(static_cast<artifact::EpilogueStep>(step));
  return steps;
}

TEST(ExportMatmul, TransposedOperandsHaveOtherStrides) {
  auto file = compileToFile(R"(
func.func @main(%x: tensor<3x30x40xf32>, %w: tensor<3x20x30xf32>) -> tensor<3x40x20xf32> {
  %0 = sgd.dot_general %x, %w batching = [0] x [0] contracting = [1] x [2] : tensor<3x30x40xf32>, tensor<3x20x30xf32> -> tensor<3x40x20xf32>
  return %0 : tensor<3x40x20xf32>
})");
  ASSERT_TRUE(file);
  const artifact::Matmul* matmul = findMatmul(*file);
  ASSERT_TRUE(matmul);
  EXPECT_EQ(matmul->element(), artifact::ElementType::F32);
  EXPECT_EQ(matmul->m(), 40u);
  EXPECT_EQ(matmul->n(), 20u);
  EXPECT_EQ(matmul->k(), 30u);
  EXPECT_EQ(toNumbers(matmul->batch_dims()), (std::vector<uint64_t>{3}));
  EXPECT_EQ(toNumbers(matmul->a_batch()), (std::vector<uint64_t>{30 * 40}));
  EXPECT_EQ(toNumbers(matmul->b_batch()), (std::vector<uint64_t>{20 * 30}));
  EXPECT_EQ(toNumbers(matmul->c_batch()), (std::vector<uint64_t>{40 * 20}));
  EXPECT_EQ(matmul->a_m(), 1);
  EXPECT_EQ(matmul->a_k(), 40);
  EXPECT_EQ(matmul->b_k(), 1);
  EXPECT_EQ(matmul->b_n(), 30);
  EXPECT_EQ(matmul->c_m(), 20);
  EXPECT_EQ(matmul->c_n(), 1);
  EXPECT_EQ(matmul->bias(), nullptr);
  EXPECT_TRUE(toSteps(*matmul).empty());
}

TEST(ExportMatmul, FlopsAreTwoForEachProduct) {
  auto file = compileToFile(R"(
func.func @main(%x: tensor<40x30xf32>, %w: tensor<30x20xf32>) -> tensor<40x20xf32> {
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<40x30xf32>, tensor<30x20xf32> -> tensor<40x20xf32>
  return %0 : tensor<40x20xf32>
})");
  ASSERT_TRUE(file);
  auto found = findInstructions(*file->root().programs()->Get(0), Operation::Matmul);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->flops(), 2u * 40 * 30 * 20);
  EXPECT_EQ(found[0]->bytes(), 4u * (40 * 30 + 30 * 20 + 40 * 20));
  ASSERT_EQ(found[0]->operations()->size(), 1u);
  EXPECT_EQ(found[0]->operations()->Get(0)->kind(), artifact::OperationKind::Matmul);
  EXPECT_EQ(found[0]->operations()->Get(0)->precision(), artifact::Precision::Single);
}

/// A layer whose result another matmul reads.
TEST(ExportMatmul, EpiloguesNameTheirOperands) {
  auto file = compileToFile(R"(
func.func @main(%x: tensor<40x30xf32>, %w: tensor<30x20xf32>, %b: tensor<20xf32>, %v: tensor<20x10xf32>) -> tensor<40x10xf32> {
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<40x30xf32>, tensor<30x20xf32> -> tensor<40x20xf32>
  %1 = sgd.broadcast_in_dim %b dims = [1] : tensor<20xf32> -> tensor<40x20xf32>
  %2 = arith.addf %0, %1 : tensor<40x20xf32>
  %zero = arith.constant dense<0.0> : tensor<40x20xf32>
  %3 = arith.maximumf %2, %zero : tensor<40x20xf32>
  %4 = sgd.dot_general %3, %v batching = [] x [] contracting = [1] x [0] : tensor<40x20xf32>, tensor<20x10xf32> -> tensor<40x10xf32>
  return %4 : tensor<40x10xf32>
})");
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  auto found = findInstructions(program, Operation::Matmul);
  ASSERT_EQ(found.size(), 2u);
  const artifact::Matmul &first = *found[0]->op_as_Matmul(), &second = *found[1]->op_as_Matmul();
  EXPECT_EQ(toSteps(first),
            (std::vector<artifact::EpilogueStep>{artifact::EpilogueStep::Bias, artifact::EpilogueStep::Relu}));
  ASSERT_TRUE(first.bias());
  EXPECT_EQ(first.bias()->offset(), program.inputs()->Get(2)->slice()->offset());
  EXPECT_EQ(first.bias()->size(), 80u);
  EXPECT_EQ(first.c()->offset(), second.a()->offset());
  EXPECT_TRUE(toSteps(second).empty());
}

/// The sum of two matmuls is written where the first one's result was.
TEST(ExportMatmul, AResidualIsInTheResultsPlace) {
  auto file = compileToFile(R"(
func.func @main(%p: tensor<40x6xf32>, %q: tensor<6x20xf32>, %x: tensor<40x30xf32>, %w: tensor<30x20xf32>, %v: tensor<20x10xf32>) -> tensor<40x10xf32> {
  %0 = sgd.dot_general %p, %q batching = [] x [] contracting = [1] x [0] : tensor<40x6xf32>, tensor<6x20xf32> -> tensor<40x20xf32>
  %1 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<40x30xf32>, tensor<30x20xf32> -> tensor<40x20xf32>
  %2 = arith.addf %0, %1 : tensor<40x20xf32>
  %3 = sgd.dot_general %2, %v batching = [] x [] contracting = [1] x [0] : tensor<40x20xf32>, tensor<20x10xf32> -> tensor<40x10xf32>
  return %3 : tensor<40x10xf32>
})");
  ASSERT_TRUE(file);
  auto found = findInstructions(*file->root().programs()->Get(0), Operation::Matmul);
  ASSERT_EQ(found.size(), 3u);
  const artifact::Matmul &residual = *found[0]->op_as_Matmul(), &sum = *found[1]->op_as_Matmul();
  EXPECT_TRUE(toSteps(residual).empty());
  EXPECT_EQ(toSteps(sum), (std::vector<artifact::EpilogueStep>{artifact::EpilogueStep::Residual}));
  EXPECT_EQ(sum.bias(), nullptr);
  EXPECT_EQ(residual.c()->offset(), sum.c()->offset());
}

}  // namespace
}  // namespace mlir::sgd
