// What a program's ops say of its parameters, and what is told of a step.
#include "compiler/auto_sharding/logical_dims.h"

#include "compiler/auto_sharding/step_facts.h"
#include "compiler/driver/driver.h"
#include "dialects/sgd/programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::sgd;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::vector<LogicalDim> findDims(const std::string& text) {
  std::vector<ProgramSource> sources = {{"main", "m.mlir", text}};
  CompileSession session(sources);
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  std::vector<LogicalDim> dims;
  auto find = [&](ModuleOp compilation) {
    dims = findLogicalDims(getProgramFunctions(getPrograms(compilation)).front());
    return success();
  };
  EXPECT_TRUE(succeeded(session.visitPrograms({}, errors, find))) << messages;
  return dims;
}

TEST(LogicalDims, ContractionsTieWhatTheyContract) {
  std::vector<LogicalDim> dims = findDims(R"(
func.func @main(%x: tensor<6x8xf32>, %up: tensor<8x32xf32>, %down: tensor<32x8xf32>) -> tensor<6x8xf32> {
  %0 = sgd.dot_general %x, %up batching = [] x [] contracting = [1] x [0] : tensor<6x8xf32>, tensor<8x32xf32> -> tensor<6x32xf32>
  %1 = sgd.dot_general %0, %down batching = [] x [] contracting = [1] x [0] : tensor<6x32xf32>, tensor<32x8xf32> -> tensor<6x8xf32>
  %2 = arith.addf %1, %x : tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
})");
  ASSERT_EQ(dims.size(), 3u);
  EXPECT_THAT(dims[0].members, ElementsAre(ArgumentDim{0, 0}));
  EXPECT_THAT(dims[1].members, ElementsAre(ArgumentDim{0, 1}, ArgumentDim{1, 0}, ArgumentDim{2, 1}));
  EXPECT_THAT(dims[2].members, ElementsAre(ArgumentDim{1, 1}, ArgumentDim{2, 0}));
  EXPECT_EQ(dims[2].size, 32);
}

// Features that are split into heads can be cut into as many shards as there are heads.
TEST(LogicalDims, SplitDimensionsAreTiedToTheOuterPart) {
  std::vector<LogicalDim> dims = findDims(R"(
func.func @main(%w: tensor<8x12xf32>, %bias: tensor<4x3xf32>) -> tensor<8x4x3xf32> {
  %0 = sgd.reshape %w : tensor<8x12xf32> -> tensor<8x4x3xf32>
  %1 = sgd.broadcast_in_dim %bias dims = [1, 2] : tensor<4x3xf32> -> tensor<8x4x3xf32>
  %2 = arith.addf %0, %1 : tensor<8x4x3xf32>
  return %2 : tensor<8x4x3xf32>
})");
  ASSERT_EQ(dims.size(), 3u);
  EXPECT_THAT(dims[1].members, ElementsAre(ArgumentDim{0, 1}, ArgumentDim{1, 0}));
  EXPECT_EQ(dims[1].size, 4);
  EXPECT_THAT(dims[2].members, ElementsAre(ArgumentDim{1, 1}));
}

TEST(LogicalDims, LoopsAndStepsCarryThem) {
  std::vector<LogicalDim> dims = findDims(R"(
func.func @main(%w: tensor<8xf32> {sgd.name = "w"}, %n: tensor<i32>) -> (tensor<8xf32> {sgd.name = "result[0]"}) {
  %0:2 = sgd.while (%w, %n) trips 4 do {
  ^bb0(%x: tensor<8xf32>, %i: tensor<i32>):
    %1 = arith.mulf %x, %x : tensor<8xf32>
    sgd.yield %1, %i : tensor<8xf32>, tensor<i32>
  } : (tensor<8xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<i32>)
  return %0#0 : tensor<8xf32>
})");
  ASSERT_EQ(dims.size(), 1u);
  EXPECT_EQ(dims[0].size, 8);
}

struct FactsOutcome {
  FailureOr<StepFacts> facts = failure();
  std::string messages;
};

FactsOutcome findFacts(const std::string& text, const std::string& other = "") {
  std::vector<ProgramSource> sources = {{"main", "m.mlir", text}};
  if (!other.empty()) sources.push_back({"eval", "e.mlir", other});
  CompileSession session(sources);
  FactsOutcome outcome;
  llvm::raw_string_ostream errors(outcome.messages);
  outcome.facts = findStepFacts(session, {}, errors);
  return outcome;
}

// Inputs that are not of the batch have other rows; random keys have none.
TEST(StepFacts, BatchIsWhatMostBytesAreOf) {
  FactsOutcome outcome = findFacts(R"(
sgd.mesh @mesh = <["x"=2]>
func.func @main(%w: tensor<8x8xf32> {sgd.name = "params['w']"}, %x: tensor<6x8xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>},
                %mask: tensor<4xf32> {sgd.name = "mask"}, %key: tensor<2xi32> {sgd.name = "key", sgd.unsigned})
    -> (tensor<f32> {sgd.name = "result[0]"}, tensor<8x8xf32> {sgd.name = "result[1]['w']"}) {
  %0 = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %g = sgd.dot_general %x, %0 batching = [] x [] contracting = [0] x [0] : tensor<6x8xf32>, tensor<6x8xf32> -> tensor<8x8xf32>
  %1 = arith.mulf %0, %0 : tensor<6x8xf32>
  %loss = sgd.reduce add %1 dimensions = [0, 1] : tensor<6x8xf32> -> tensor<f32>
  %w2 = arith.subf %w, %g : tensor<8x8xf32>
  return %loss, %w2 : tensor<f32>, tensor<8x8xf32>
})");
  ASSERT_TRUE(succeeded(outcome.facts)) << outcome.messages;
  const StepFacts& facts = *outcome.facts;
  EXPECT_THAT(facts.batch, ElementsAre(1));
  EXPECT_THAT(facts.others, ElementsAre(2));
  EXPECT_EQ(facts.rows, 6);
  EXPECT_TRUE(facts.isAnnotated);
  ASSERT_EQ(facts.ownMesh.size(), 1u);
  EXPECT_EQ(facts.ownMesh[0].name, "x");
}

// An evaluation has a batch of its own, and inputs that are not of it.
TEST(StepFacts, InputsOfOtherProgramsAreToldApart) {
  FactsOutcome outcome = findFacts(R"(
func.func @main(%w: tensor<8xf32> {sgd.name = "w"}, %x: tensor<6x8xf32> {sgd.name = "x"}) -> (tensor<8xf32> {sgd.name = "w"}) {
  %0 = sgd.reduce add %x dimensions = [0] : tensor<6x8xf32> -> tensor<8xf32>
  %1 = arith.addf %w, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
})",
                                   R"(
func.func @main(%w: tensor<8xf32> {sgd.name = "w"}, %x: tensor<10x8xf32> {sgd.name = "x"}, %y: tensor<10xf32> {sgd.name = "y"},
                %mask: tensor<8xf32> {sgd.name = "mask"}) -> (tensor<8xf32>, tensor<10xf32>) {
  %0 = arith.addf %w, %mask : tensor<8xf32>
  %1 = sgd.reduce add %x dimensions = [1] : tensor<10x8xf32> -> tensor<10xf32>
  %2 = arith.addf %1, %y : tensor<10xf32>
  return %0, %2 : tensor<8xf32>, tensor<10xf32>
})");
  ASSERT_TRUE(succeeded(outcome.facts)) << outcome.messages;
  EXPECT_THAT(outcome.facts->names, ElementsAre("w", "x", "y", "mask"));
  EXPECT_THAT(outcome.facts->batch, ElementsAre(1));
  EXPECT_THAT(outcome.facts->others, ElementsAre(3));
  EXPECT_EQ(outcome.facts->shapes.size(), 4u);
}

TEST(StepFacts, RefusesWhatIsNoTrainStep) {
  EXPECT_THAT(
      findFacts("func.func @main(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {\n  return %x : tensor<6x8xf32>\n}").messages,
      HasSubstr("no result is known to be an argument of the next step"));
}

TEST(StepFacts, RefusesWhatIsWrittenForItsMesh) {
  EXPECT_EQ(findFacts(R"(
sgd.mesh @mesh = <["x"=2]> {sgd.stages = #sgd<axis"stage"=4>}
func.func @main(%w: tensor<8xf32> {sgd.name = "w"}) -> (tensor<8xf32> {sgd.name = "w"}) {
  return %w : tensor<8xf32>
})")
                .messages,
            "m.mlir: error: --auto: the model is written by stages for its mesh; expected whole programs, of which "
            "--auto forms stages itself; leave --auto out\n");
  EXPECT_EQ(findFacts(R"(
sgd.mesh @mesh = <["x"=2]>
func.func @main(%w: tensor<8xf32> {sgd.name = "w"}) -> (tensor<8xf32> {sgd.name = "w"}) {
  %0 = sgd.manual_computation(%w) in [#sgd.sharding<@mesh, [{"x"}]>] out [#sgd.sharding<@mesh, [{"x"}]>] over <@mesh, {"x"}> {
  ^bb0(%part: tensor<4xf32>):
    %1 = arith.addf %part, %part : tensor<4xf32>
    sgd.yield %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
})")
                .messages,
            "m.mlir: error: --auto: parts of the model are written for one rank of its mesh (jax.shard_map); expected "
            "a step of whole tensors; write these parts without it, or leave --auto out\n");
}

}  // namespace
