// Kernels that do the work of several launches: which are joined, and by value.
#include <gtest/gtest.h>

#include <numeric>

#include "mlir/Parser/Parser.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/codegen.h"
#include "targets/gpu/codegen/combine_launches.h"
#include "tests/targets/gpu/emulator/kernel_emulator.h"
#include "tests/targets/kernels/kernel_check.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;
using gpu::LaunchShape;

namespace {

using Sets = SmallVector<SmallVector<unsigned>>;

TEST(CombineLaunches, JoinsThoseOfAsManyThreads) {
  EXPECT_EQ(gpu::combineLaunches({}), Sets());
  EXPECT_EQ(gpu::combineLaunches({{0, 256, 3, 1}}), Sets()) << "one launch is one already";
  EXPECT_EQ(gpu::combineLaunches({{0, 256, 3, 1}, {1, 128, 3, 1}, {2, 256, 3, 5}, {3, 128, 2, 9}, {4, 32, 1, 1}}),
            (Sets{{0, 2}, {1, 3}}));
  EXPECT_EQ(gpu::combineLaunches({{0, 256, 3, 1}, {1, 256, 3, 0}, {0, 256, 3, 1}}), (Sets{{0, 2}}))
      << "one without blocks is not launched";
}

TEST(CombineLaunches, OnesThatFillAGpuJoinTheirLike) {
  EXPECT_EQ(
      gpu::combineLaunches({{0, 256, 3, 5000}, {1, 256, 3, 5000}, {0, 256, 3, 1}, {0, 256, 3, 4000}, {1, 256, 3, 7}}),
      (Sets{{0, 3}, {2, 4}}));
}

TEST(CombineLaunches, ParametersFitIntoOneLaunch) {
  SmallVector<LaunchShape> launches(120, {0, 256, 9, 1});
  Sets sets = gpu::combineLaunches(launches);
  ASSERT_EQ(sets.size(), 3u);
  for (const auto& set : sets) EXPECT_LE(set.size() * 9, 500u);
  EXPECT_EQ(sets[0].size() + sets[1].size() + sets[2].size(), 120u);
}

// Points, a row sum and a column sum, some several times and with other sizes of grids, in one launch.
TEST(CombinedKernel, DoesEachPartOnItsOwnBuffers) {
  auto context = makeContext();
  const std::string texts[] = {cluster("tensor<300xf32>", "tensor<300xf32>", "%x: tensor<300xf32>",
                                       "%0 = arith.addf %x, %x : tensor<300xf32>\nfusion.yield %0 : tensor<300xf32>"),
                               cluster("tensor<20x64xf32>", "tensor<20xf32>", "%x: tensor<20x64xf32>",
                                       "%0 = sgd.reduce add %x dimensions = [1] : tensor<20x64xf32> -> "
                                       "tensor<20xf32>\nfusion.yield %0 : tensor<20xf32>"),
                               cluster("tensor<64x40xf32>", "tensor<40xf32>", "%x: tensor<64x40xf32>",
                                       "%0 = sgd.reduce add %x dimensions = [0] : tensor<64x40xf32> -> "
                                       "tensor<40xf32>\nfusion.yield %0 : tensor<40xf32>")};
  const size_t inputs[] = {300, 20 * 64, 64 * 40}, outputs[] = {300, 20, 40};
  std::vector<OwningOpRef<ModuleOp>> modules;
  SmallVector<KernelRequest> requests;
  SmallVector<int64_t> blocks;
  for (const std::string& text : texts) {
    modules.push_back(parseSourceString<ModuleOp>(text, context.get()));
    fusion::ClusterOp body;
    modules.back()->walk([&](fusion::ClusterOp op) { body = op; });
    blocks.push_back(gpu::describeKernel(body)->range);
    requests.push_back({body, "kernel_" + std::to_string(requests.size()), {}});
    ASSERT_EQ(gpu::getBlockThreads(body), 256u);
  }
  gpu::Combinations combinations;
  gpu::CombinedRequest combined{"group_0", {}};
  const unsigned order[] = {1, 0, 2, 0, 1, 1, 0};
  for (unsigned request : order) combined.parts.push_back({request, blocks[request]});
  combinations.combined.push_back(combined);
  combinations.onlyCombined = {true, false, true};
  auto compiled = gpu::compileKernels(requests, *gpu::parseArchitectures("emulated,sm_90"), 1, combinations);
  ASSERT_TRUE(succeeded(compiled));
  for (const gpu::KernelMetrics& metrics : compiled->metrics) EXPECT_EQ(metrics.threads, 256u);
  EXPECT_EQ(compiled->metrics.back().schedule, "combined");
  EXPECT_NE(compiled->modules[1].find(".entry group_0("), std::string::npos);
  EXPECT_NE(compiled->modules[1].find(".entry kernel_1("), std::string::npos);
  EXPECT_EQ(compiled->modules[1].find(".entry kernel_0("), std::string::npos) << "it runs as a part alone";
  std::string error;
  auto module = ::sgd::emulator::KernelModule::Load(compiled->modules[0], &error, ::sgd::emulator::Judging::kAll);
  ASSERT_NE(module, nullptr) << error;
  std::vector<std::vector<float>> buffers;
  std::vector<uint64_t> parameters;
  std::vector<::sgd::emulator::Extent> extents;
  auto add = [&](size_t size, float first) {
    buffers.emplace_back(size);
    for (size_t i = 0; i < size; ++i) buffers.back()[i] = first + static_cast<float>(i % 7);
    parameters.push_back(reinterpret_cast<uintptr_t>(buffers.back().data()));
    extents.push_back({parameters.back(), size * sizeof(float)});
  };
  uint32_t grid = 0;
  for (auto [part, request] : llvm::enumerate(order)) {
    add(inputs[request], static_cast<float>(part));
    add(outputs[request], -1);
    grid += blocks[request];
  }
  for (auto direction : {::sgd::emulator::Order::kForward, ::sgd::emulator::Order::kBackward}) {
    ASSERT_EQ(module->Launch("group_0", {0, grid, 256}, parameters, direction, {extents, true}), "");
    for (auto [part, request] : llvm::enumerate(order)) {
      const std::vector<float>&x = buffers[2 * part], &y = buffers[2 * part + 1];
      for (size_t i = 0; i < y.size(); ++i) {
        float expected = 2 * x[i];
        if (request == 1) expected = std::accumulate(x.begin() + 64 * i, x.begin() + 64 * (i + 1), 0.0f);
        if (request == 2) {
          expected = 0;
          for (size_t row = 0; row < 64; ++row) expected += x[row * 40 + i];
        }
        ASSERT_EQ(y[i], expected) << "part " << part << " element " << i;
      }
    }
  }
}

}  // namespace
