// Steps of small programs beside what they must take by hand.
#include "compiler/simulation/estimate.h"

#include "compiler/driver/driver.h"
#include "compiler/simulation/drawing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::sgd;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Ranks of two on slow links, and nothing but bytes costs anything.
Topology getSlowLinks() {
  Topology topology = getHostTopology();
  topology.device.launchLatency = 0;
  topology.links.clear();
  topology.links.push_back({"fast", 2, 1e-3, 1e9, {Algorithm::Ring}});
  topology.links.push_back({"slow", 0, 1e-2, 1e6, {Algorithm::Ring}});
  return topology;
}

std::unique_ptr<::sgd::artifact::ArtifactFile> compileText(const std::string& text) {
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  CompileOptions options;
  options.threads = 1;
  auto compilation = mlir::sgd::compile({{"main", "program.mlir", text}}, options, stream);
  EXPECT_TRUE(succeeded(compilation)) << errors;
  if (failed(compilation)) return nullptr;
  auto file = ::sgd::artifact::ArtifactFile::FromBytes(
      std::string_view(compilation->artifact.data(), compilation->artifact.size()), "program.sgda");
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : nullptr;
}

StepEstimate estimate(const ::sgd::artifact::ArtifactFile& file, const std::vector<MeshAxisSize>& mesh = {},
                      Topology topology = getSlowLinks()) {
  llvm::Expected<Machine> machine = Machine::create(file.root(), file.path(), std::move(topology), mesh);
  EXPECT_TRUE(bool(machine));
  llvm::Expected<StepEstimate> estimate = estimateStep(*machine, {});
  EXPECT_TRUE(bool(estimate));
  return std::move(*estimate);
}

const char* kReduction = R"(
sgd.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<4x250000xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>}) -> tensor<250000xf32> {
  %0 = sgd.reduce add %x dimensions = [0] : tensor<4x250000xf32> -> tensor<250000xf32>
  return %0 : tensor<250000xf32>
})";

TEST(Simulate, AllReduceTakesWhatTheCostModelSays) {
  auto file = compileText(kReduction);
  ASSERT_TRUE(file);
  StepEstimate step = estimate(*file);
  // Reduce-scatter in pairs, all-reduce of halves across, all-gather in pairs.
  double inside = 2 * (1e-3 + 0.5e6 / 1e9), across = 2 * (1e-2 + 0.25e6 / 1e6);
  EXPECT_NEAR(step.exposedSeconds, inside + across, 1e-9);
  EXPECT_NEAR(step.stepSeconds, step.computeSeconds + step.exposedSeconds, 1e-12);
  ASSERT_EQ(step.sentBytes.size(), 2u);
  EXPECT_EQ(step.sentBytes[1].second, 1500000u);
  EXPECT_EQ(step.bubble, 0);
}

TEST(Simulate, AxesOfOtherSizesExchangeTheSameTensors) {
  auto file = compileText(kReduction);
  ASSERT_TRUE(file);
  StepEstimate two = estimate(*file, {{"data", 2}}), many = estimate(*file, {{"data", 64}});
  EXPECT_EQ(two.ranks, 2);
  EXPECT_NEAR(two.exposedSeconds, 2 * (1e-3 + 0.5e6 / 1e9), 1e-9);
  EXPECT_EQ(many.computeSeconds, two.computeSeconds);
  EXPECT_EQ(many.sentBytes[1].second, uint64_t(1000000) / 64 * 126);
  StepEstimate one = estimate(*file, {{"data", 1}});
  EXPECT_EQ(one.exposedSeconds, 0);
}

TEST(Simulate, SharedAndOversubscribedLinksAreSlower) {
  auto file = compileText(kReduction);
  ASSERT_TRUE(file);
  Topology topology = getSlowLinks();
  topology.links[1].sharedBy = 2;
  double shared = estimate(*file, {}, topology).exposedSeconds;
  topology.links[1].oversubscription = 3;
  double both = estimate(*file, {}, topology).exposedSeconds;
  double inside = 2 * (1e-3 + 0.5e6 / 1e9);
  EXPECT_NEAR(shared, inside + 2 * (1e-2 + 2 * 0.25), 1e-9);
  EXPECT_NEAR(both, inside + 2 * (1e-2 + 6 * 0.25), 1e-9);
}

TEST(Simulate, RefusesAxesThatItHasNot) {
  auto file = compileText(kReduction);
  ASSERT_TRUE(file);
  llvm::Expected<Machine> machine = Machine::create(file->root(), file->path(), getSlowLinks(), {{"model", 2}});
  ASSERT_FALSE(bool(machine));
  EXPECT_THAT(llvm::toString(machine.takeError()), HasSubstr("axis 'model' is not in its mesh; expected one of data"));
}

TEST(Simulate, RefusesMoreRanksThanAnyMachineHas) {
  auto file = compileText(kReduction);
  ASSERT_TRUE(file);
  for (auto [size, isAllowed] : {std::pair(int64_t{1} << 24, true), std::pair((int64_t{1} << 24) + 1, false)}) {
    llvm::Expected<Machine> machine = Machine::create(file->root(), file->path(), getSlowLinks(), {{"data", size}});
    EXPECT_EQ(bool(machine), isAllowed) << size;
    if (!machine) EXPECT_THAT(llvm::toString(machine.takeError()), HasSubstr("more ranks than any machine has"));
  }
}

TEST(Simulate, RefusesProgramsThatItHasNot) {
  auto file = compileText(kReduction);
  ASSERT_TRUE(file);
  llvm::Expected<Machine> machine = Machine::create(file->root(), file->path(), getSlowLinks(), {});
  ASSERT_TRUE(bool(machine));
  EstimateOptions options;
  options.program = "evaluate";
  llvm::Expected<StepEstimate> step = estimateStep(*machine, options);
  ASSERT_FALSE(bool(step));
  EXPECT_EQ(llvm::toString(step.takeError()), "has no program 'evaluate'; expected one of main; name it by --program");
}

const char* kPipeline = R"(
sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func @main_stage0(%x: tensor<250000xf32> {sgd.name = "x", sgd.position = 0 : i64}) attributes {sgd.program = "main", sgd.stage = 0 : i64} {
  %zero = arith.constant dense<0> : tensor<i32>
  %0:2 = sgd.while (%zero, %x) trips 6 do {
  ^bb0(%i: tensor<i32>, %y: tensor<250000xf32>):
    spmd.send %y to stage 1 channel 0 : tensor<250000xf32>
    %one = arith.constant dense<1> : tensor<i32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %j, %y : tensor<i32>, tensor<250000xf32>
  } : (tensor<i32>, tensor<250000xf32>) -> (tensor<i32>, tensor<250000xf32>)
  return
}
func.func @main_stage1(%a: tensor<250000xf32> {sgd.name = "a", sgd.position = 1 : i64}) -> (tensor<250000xf32> {sgd.position = 0 : i64}) attributes {sgd.program = "main", sgd.stage = 1 : i64} {
  %zero = arith.constant dense<0> : tensor<i32>
  %0:2 = sgd.while (%zero, %a) trips 6 do {
  ^bb0(%i: tensor<i32>, %s: tensor<250000xf32>):
    %y = spmd.receive channel 0 from stage 0 : tensor<250000xf32>
    %t = arith.addf %s, %y : tensor<250000xf32>
    %one = arith.constant dense<1> : tensor<i32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %j, %t : tensor<i32>, tensor<250000xf32>
  } : (tensor<i32>, tensor<250000xf32>) -> (tensor<i32>, tensor<250000xf32>)
  return %0#1 : tensor<250000xf32>
})";

TEST(Simulate, MessagesGoOneAfterAnother) {
  auto file = compileText(kPipeline);
  ASSERT_TRUE(file);
  Topology topology = getSlowLinks();
  topology.links.erase(topology.links.begin());
  StepEstimate step = estimate(*file, {}, topology);
  ASSERT_EQ(step.stages.size(), 2u);
  // Six messages over one link that take longer than anything else; the last one is then added.
  double message = 1e-2 + 1e6 / 1e6, rest = 10e-3;
  EXPECT_NEAR(step.stepSeconds, 6 * message, rest);
  EXPECT_GT(step.stages[1].messageWaits, 6 * message - rest);
  EXPECT_EQ(step.sentBytes[0].second, 6000000u);
  EXPECT_NEAR(step.bubble, 1, 0.02);
}

TEST(Simulate, StagesKeepTheirNumber) {
  auto file = compileText(kPipeline);
  ASSERT_TRUE(file);
  llvm::Expected<Machine> machine = Machine::create(file->root(), file->path(), getSlowLinks(), {{"stage", 4}});
  ASSERT_FALSE(bool(machine));
  EXPECT_THAT(llvm::toString(machine.takeError()), HasSubstr("axis 'stage' has a program for each stage"));
}

TEST(Simulate, TimelineShowsEachStage) {
  auto file = compileText(kPipeline);
  ASSERT_TRUE(file);
  llvm::Expected<Machine> machine = Machine::create(file->root(), file->path(), getSlowLinks(), {});
  ASSERT_TRUE(bool(machine));
  EstimateOptions options;
  options.keepsIntervals = true;
  llvm::Expected<StepEstimate> step = estimateStep(*machine, options);
  ASSERT_TRUE(bool(step));
  std::string svg = drawTimeline(*machine, *step);
  EXPECT_THAT(svg, HasSubstr("send at program.mlir:7:5"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  for (const char* text : {">stage 0</text>", ">stage 1</text>", ">compute</text>", ">messages</text>", ">0 ms</text>"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, Not(HasSubstr(">collectives</text>"))) << "there are none";
}

}  // namespace
