// Reports of pipelines: what each stage needs and sends, and what the whole is said to take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/driver/driver.h"
#include "compiler/report/report.h"

namespace mlir::sgd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Stage 0 sends 1000 bytes in each of five trips. Stage 1 adds them up, keeps ten times as much, and sends 400 back.
const char* kPipeline = R"(
sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func @main_stage0(%x: tensor<250xf32> {sgd.name = "x", sgd.position = 0 : i64}) -> (tensor<100xf32> {sgd.position = 0 : i64}) attributes {sgd.program = "main", sgd.stage = 0 : i64} {
  %zero = arith.constant dense<0> : tensor<i32>
  %0:2 = sgd.while (%zero, %x) trips 5 do {
  ^bb0(%i: tensor<i32>, %y: tensor<250xf32>):
    spmd.send %y to stage 1 channel 0 : tensor<250xf32>
    %one = arith.constant dense<1> : tensor<i32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %j, %y : tensor<i32>, tensor<250xf32>
  } : (tensor<i32>, tensor<250xf32>) -> (tensor<i32>, tensor<250xf32>)
  %back = spmd.receive channel 1 from stage 1 : tensor<100xf32>
  return %back : tensor<100xf32>
}
func.func @main_stage1(%a: tensor<250xf32> {sgd.name = "a", sgd.position = 1 : i64}, %b: tensor<2500xf32> {sgd.name = "b", sgd.position = 2 : i64}) -> (tensor<2500xf32> {sgd.name = "loss", sgd.position = 1 : i64}) attributes {sgd.program = "main", sgd.stage = 1 : i64} {
  %zero = arith.constant dense<0> : tensor<i32>
  %0:2 = sgd.while (%zero, %a) trips 5 do {
  ^bb0(%i: tensor<i32>, %s: tensor<250xf32>):
    %y = spmd.receive channel 0 from stage 0 : tensor<250xf32>
    %t = arith.addf %s, %y : tensor<250xf32>
    %one = arith.constant dense<1> : tensor<i32>
    %j = arith.addi %i, %one : tensor<i32>
    sgd.yield %j, %t : tensor<i32>, tensor<250xf32>
  } : (tensor<i32>, tensor<250xf32>) -> (tensor<i32>, tensor<250xf32>)
  %few = sgd.slice %0#1 starts = [0] limits = [100] strides = [1] : tensor<250xf32> -> tensor<100xf32>
  spmd.send %few to stage 0 channel 1 : tensor<100xf32>
  %c = math.exp %b : tensor<2500xf32>
  return %c : tensor<2500xf32>
})";

/// Compiled once for all tests.
const Report& getReport() {
  static const Report report = [] {
    CompileOptions options;
    options.cpu = "x86-64-v3";
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    FailureOr<Compilation> compilation = compile({{"main", "step.mlir", kPipeline}}, options, stream);
    EXPECT_TRUE(succeeded(compilation)) << errors;
    return succeeded(compilation) ? compilation->report : Report();
  }();
  return report;
}

TEST(PipelineReport, EachStageHasItsOwnNumbers) {
  const Report& report = getReport();
  ASSERT_EQ(report.stages.size(), 2u);
  EXPECT_EQ(report.program, "main");
  EXPECT_EQ(report.stages[0].sentBytes, 5000u);
  EXPECT_EQ(report.stages[1].sentBytes, 400u);
  EXPECT_EQ(report.stages[0].memory.arguments, 1000u);
  EXPECT_EQ(report.stages[1].memory.arguments, 11000u);
  EXPECT_GT(report.stages[0].seconds, 0);
  EXPECT_GT(report.stages[1].seconds, 0);
}

TEST(PipelineReport, TheWholeIsTheLargestStage) {
  const Report& report = getReport();
  ASSERT_EQ(report.stages.size(), 2u);
  EXPECT_EQ(report.sentBytes, 5000u);  // not the sum
  EXPECT_GT(report.stages[1].memory.peak, report.stages[0].memory.peak);
  EXPECT_EQ(report.memory.peak, report.stages[1].memory.peak);
  EXPECT_EQ(report.memory.arguments, report.stages[1].memory.arguments);
  EXPECT_GT(report.bubble, 0);
  EXPECT_LT(report.bubble, 1);
}

TEST(PipelineReport, MessagesSayWhereTheyGo) {
  const Report& report = getReport();
  ASSERT_EQ(report.collectives.size(), 2u);
  const CollectiveReport &there = report.collectives[0], &back = report.collectives[1];
  EXPECT_EQ(there.kind, "send");
  EXPECT_EQ(there.stage, 0);
  EXPECT_EQ(there.toStage, 1);
  EXPECT_EQ(there.count, 5);
  EXPECT_TRUE(there.inLoop);
  EXPECT_EQ(there.sentBytes, 5000u);
  EXPECT_THAT(there.location, HasSubstr("step.mlir:7"));
  EXPECT_EQ(back.stage, 1);
  EXPECT_EQ(back.toStage, 0);
  EXPECT_EQ(back.count, 1);
  EXPECT_FALSE(back.inLoop);
}

TEST(PipelineReport, TextHasNoBoundAndSumsUpMessages) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  getReport().print(stream);
  EXPECT_THAT(text, HasSubstr("    stage 0    "));
  EXPECT_THAT(text, HasSubstr(" ms without waits, 4.88 KiB sent\n"));
  EXPECT_THAT(text, HasSubstr("4.88 KiB in 2 collectives and messages of all stages\n"));
  EXPECT_THAT(text, HasSubstr("5 messages from stage 0 to stage 1, 4.88 KiB sent\n"));
  EXPECT_THAT(text, HasSubstr("1 message from stage 1 to stage 0, 400 B sent\n"));
  EXPECT_THAT(text, HasSubstr(", of which stages wait "));
  EXPECT_THAT(text, Not(HasSubstr("lower bound")));
  EXPECT_THAT(text, Not(HasSubstr("send over 2 ranks")));
}

TEST(PipelineReport, JsonKeepsStages) {
  Report read;
  ASSERT_TRUE(fromJson(getReport().toJson(), read));
  ASSERT_EQ(read.stages.size(), 2u);
  EXPECT_EQ(read.stages[1].sentBytes, 400u);
  EXPECT_EQ(read.stages[1].memory.peak, getReport().stages[1].memory.peak);
  EXPECT_EQ(read.collectives[1].toStage, 0);
  EXPECT_EQ(read.bubble, getReport().bubble);
}

}  // namespace
}  // namespace mlir::sgd
