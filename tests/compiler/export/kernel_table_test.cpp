// The table of kernels: launches must match it, and listings show it.
#include <gtest/gtest.h>

#include <set>

#include "tests/compiler/export/compiled.h"

namespace mlir::sgd {
namespace {

using artifact::Operation;

TEST(ExportKernels, DescribesItsFirstLaunch) {
  auto file = compileToFile(R"(
func.func @main(%x: tensor<4x100xf32>) -> tensor<4xf32> {
  %half = arith.constant dense<0.5> : tensor<4x100xf32>
  %0 = arith.mulf %x, %half : tensor<4x100xf32>
  %1 = math.exp %0 : tensor<4x100xf32>
  %2 = math.exp %1 : tensor<4x100xf32>
  %3 = sgd.reduce add %2 dimensions = [1] : tensor<4x100xf32> -> tensor<4xf32>
  return %3 : tensor<4xf32>
})");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->root().kernels()->size(), 1u);
  const artifact::Kernel& kernel = *file->root().kernels()->Get(0);
  EXPECT_EQ(kernel.ops()->str(), "mulf, exp, reduce add");  // each once, constants not
  EXPECT_EQ(kernel.outputs(), 1u);
  EXPECT_EQ(toNumbers(kernel.least_bytes()), (std::vector<uint64_t>{1600, 16}));
  ASSERT_EQ(kernel.elements()->size(), 2u);
  for (auto element : *kernel.elements())
    EXPECT_EQ(static_cast<artifact::ElementType>(element), artifact::ElementType::F32);
  EXPECT_EQ(kernel.bytes(), 1616u);
  EXPECT_GE(kernel.flops(), 4u * 100 * (1 + 10 + 10) + 4 * 99);
  EXPECT_GT(kernel.seconds(), 0);
  EXPECT_TRUE(kernel.loc()->str().starts_with("step.mlir:")) << kernel.loc()->str();
}

/// Equal clusters share a kernel, and each launch has lines of its own: functions first, then sums, none of what is
/// finite everywhere.
TEST(ExportKernels, LaunchesNameTheLinesThatMayOverflow) {
  auto file = compileToFile(R"(
func.func @main(%x: tensor<4x100xf32>, %y: tensor<4x100xf32>) -> (tensor<4x100xf32>, tensor<4x100xf32>) {
  %0 = arith.addf %x, %x : tensor<4x100xf32>
  %1 = math.tanh %0 : tensor<4x100xf32>
  %2 = math.log %1 : tensor<4x100xf32>
  %3 = arith.addf %y, %y : tensor<4x100xf32>
  %4 = math.tanh %3 : tensor<4x100xf32>
  %5 = math.log %4 : tensor<4x100xf32>
  return %2, %5 : tensor<4x100xf32>, tensor<4x100xf32>
})");
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  std::vector<std::vector<std::string>> lines;
  for (const artifact::Instruction* instruction : *program.instructions()) {
    std::vector<const artifact::Launch*> launches;
    if (const auto* launch = instruction->op_as_Launch()) launches.push_back(launch);
    if (const auto* group = instruction->op_as_LaunchGroup())
      launches.insert(launches.end(), group->launches()->begin(), group->launches()->end());
    for (const artifact::Launch* launch : launches) {
      lines.emplace_back();
      for (uint32_t member : *launch->members()) lines.back().push_back(program.locations()->Get(member)->str());
    }
  }
  EXPECT_EQ(lines, (std::vector<std::vector<std::string>>{{"log at step.mlir:5:8", "addf at step.mlir:3:8"},
                                                          {"log at step.mlir:8:8", "addf at step.mlir:6:8"}}));
}

/// Three loops over other shapes: launches must pass what their kernels' code takes.
TEST(ExportKernels, LaunchesMatchTheTable) {
  auto file = compileToFile(R"(
sgd.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<10x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<6xf32>, %c: tensor<50xf32>)
    -> (tensor<4xf32>, tensor<6xf32>, tensor<50xf32>) {
  %0 = sgd.reduce max %a dimensions = [0] : tensor<10x4xf32> -> tensor<4xf32>
  %1 = math.exp %b : tensor<6xf32>
  %2 = math.tanh %c : tensor<50xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<6xf32>, tensor<50xf32>
})");
  ASSERT_TRUE(file);
  std::vector<const artifact::Launch*> launches;
  for (const artifact::Instruction* instruction : *file->root().programs()->Get(0)->instructions()) {
    if (const auto* launch = instruction->op_as_Launch()) launches.push_back(launch);
    if (const auto* group = instruction->op_as_LaunchGroup())
      for (const artifact::Launch* launch : *group->launches()) launches.push_back(launch);
  }
  ASSERT_GE(launches.size(), 3u);
  bool hasCoordinates = false;
  for (const artifact::Launch* launch : launches) {
    const artifact::Kernel& kernel = *file->root().kernels()->Get(launch->kernel());
    ASSERT_EQ(launch->buffers()->size(), kernel.least_bytes()->size()) << kernel.symbol()->str();
    for (unsigned index = 0; index < launch->buffers()->size(); ++index)
      EXPECT_GE(launch->buffers()->Get(index)->size(), kernel.least_bytes()->Get(index)) << kernel.symbol()->str();
    EXPECT_EQ(launch->outputs(), kernel.outputs());
    EXPECT_LE(launch->range(), kernel.range());
    EXPECT_EQ(launch->coordinates() ? launch->coordinates()->size() : 0, kernel.coordinates());
    hasCoordinates |= kernel.coordinates() > 0;
  }
  // The rank decides how many of its four rows are none: 4, 4 and 2.
  EXPECT_TRUE(hasCoordinates);
}

TEST(ExportKernels, IndependentLaunchesAreOneInstruction) {
  auto file = compileToFile(R"(
func.func @main(%a: tensor<6xf32>, %b: tensor<50xf32>) -> (tensor<6xf32>, tensor<50xf32>) {
  %0 = math.exp %a : tensor<6xf32>
  %1 = math.tanh %b : tensor<50xf32>
  return %0, %1 : tensor<6xf32>, tensor<50xf32>
})");
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  ASSERT_EQ(program.instructions()->size(), 1u);
  const artifact::Instruction& instruction = *program.instructions()->Get(0);
  const artifact::LaunchGroup* group = instruction.op_as_LaunchGroup();
  ASSERT_TRUE(group);
  ASSERT_EQ(group->launches()->size(), 2u);
  uint64_t flops = 0;
  for (const artifact::Launch* launch : *group->launches())
    flops += file->root().kernels()->Get(launch->kernel())->flops();
  EXPECT_EQ(instruction.flops(), flops);
  EXPECT_EQ(program.flops(), flops);
}

}  // namespace
}  // namespace mlir::sgd
