// The text, table and JSON of estimates that are made by hand.
#include "compiler/simulation/estimate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::sgd;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

/// Of two stages of which one waits, with failures each 100 hours.
StepEstimate getPipeline() {
  StepEstimate estimate;
  estimate.mesh = {{"stage", 2}, {"data", 4}};
  estimate.ranks = 8;
  estimate.stepSeconds = 2;
  estimate.computeSeconds = 0.5;
  estimate.exposedSeconds = 250e-6;
  estimate.communicationSeconds = 12e-3;
  estimate.bubble = 0.25;
  estimate.flopsPerRank = 3e12;
  estimate.utilization = 0.015;
  estimate.peakBytes = 3 << 20;
  estimate.modelState = {1023, 1024};
  estimate.stages.resize(2);
  estimate.stages[1].messageWaits = 1.5;
  estimate.sentBytes = {{"nvlink", 0}, {"network", 2048}};
  estimate.failures = FailureEstimate{{360000, 30, 120}, 4500, 0.985};
  estimate.goodput = 0.985;
  return estimate;
}

TEST(EstimateText, EachTimeHasTheUnitThatFits) {
  std::string text = toText(getPipeline());
  EXPECT_THAT(text, HasSubstr("ranks          8 stage=2 data=4\n"));
  EXPECT_THAT(text, HasSubstr("  time         2 s\n  computing    500 ms\n"));
  EXPECT_THAT(text, HasSubstr("  waits        250 us for collectives, of 12 ms that links are busy\n"));
  EXPECT_THAT(text, HasSubstr("  failures     each 100 h; a checkpoint takes 30 s, a restart 120 s\n"));
  EXPECT_THAT(text, HasSubstr("  goodput      98.5 % with a checkpoint each 4500 s of steps, the best interval\n"));
  EXPECT_THAT(text,
              HasSubstr("  memory       3.00 MiB a rank; of the model 1023 B of state and 1.00 KiB of gradients\n"));
  EXPECT_THAT(text, HasSubstr("  flops        1.5 TFLOP/s a rank, 1.5 % of the data sheet\n"));
}

TEST(EstimateText, StagesAndLinksOnlyWhereTheyAre) {
  StepEstimate estimate = getPipeline();
  std::string text = toText(estimate);
  EXPECT_THAT(text, HasSubstr("  bubble       25.0 % of the stages' time\n"));
  EXPECT_THAT(text, HasSubstr("    stage 1: 0 us of computing, waits 0 us for collectives and 1.5 s for messages\n"));
  EXPECT_THAT(text, HasSubstr("  sent         2.00 KiB a rank, over network\n"));
  EXPECT_THAT(text, Not(HasSubstr("nvlink")));
  estimate.stages.resize(1);
  estimate.failures.reset();
  text = toText(estimate);
  for (const char* part : {"bubble", "stage 0", "failures", "goodput", "epoch", "host copies", "model flops"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
}

TEST(EstimateText, RatesAreOfAllRanks) {
  StepEstimate estimate = getPipeline();
  EXPECT_THAT(toText(estimate), Not(HasSubstr("rows/s")));
  estimate.rows = estimate.compiledRows = 12800;
  EXPECT_THAT(toText(estimate), HasSubstr("  rate         6.4k rows/s, of 12800 rows a step\n"));
  EXPECT_THAT(toText(estimate), Not(HasSubstr("weak scaling")));
  estimate.tokens = 2400000;
  estimate.compiledRows = 3200;
  EXPECT_THAT(toText(estimate), HasSubstr("6.4k rows/s, 1.2M tokens/s, of 12800 rows a step\n  batch        12800 rows "
                                          "instead of the 3200 that were compiled: each rank keeps its own"));
  EXPECT_EQ(toJson(estimate)["tokens_per_second"], 1.2e6);
  EXPECT_THAT(toTable({estimate}), HasSubstr("Weak scaling: each rank keeps its rows"));
  estimate.stepSeconds = 0;
  EXPECT_THAT(toText(estimate), Not(HasSubstr("rows/s")));
  EXPECT_FALSE(toJson(estimate).contains("rows_per_second"));
}

TEST(EstimateText, TermsAreExplainedWhereTheyStand) {
  StepEstimate estimate = getPipeline();
  for (const char* term : {"\nwaits: ", "\nbubble: ", "\ngoodput: "}) EXPECT_THAT(toText(estimate), HasSubstr(term));
  estimate.stages.resize(1);
  estimate.failures.reset();
  EXPECT_THAT(toText(estimate), HasSubstr("\nwaits: "));
  EXPECT_THAT(toTable({estimate}), HasSubstr("\nexposed: waits for collectives; bubble: "));
}

TEST(EstimateText, AnEpochHasAPriceWhereDevicesHave) {
  StepEstimate estimate = getPipeline();
  estimate.epochSteps = 1000;
  estimate.epochDeviceHours = 4.5;
  EXPECT_THAT(toText(estimate), HasSubstr("  epoch        1000 steps, 4.5 device hours\n"));
  estimate.epochPrice = 9;
  EXPECT_THAT(toText(estimate), HasSubstr("  epoch        1000 steps, 4.5 device hours, price 9\n"));
}

TEST(EstimateText, FirstSaysWhetherItFits) {
  StepEstimate estimate = getPipeline();
  EXPECT_THAT(toText(estimate), StartsWith("ranks "));
  estimate.deviceBytes = 4 << 20;
  EXPECT_THAT(toText(estimate), StartsWith("fits: a rank needs 3.00 MiB of 4.00 MiB\nranks "));
  EXPECT_EQ(toJson(estimate)["fits"], true);
  estimate.deviceBytes = 2 << 20;
  EXPECT_THAT(toText(estimate),
              StartsWith("does not fit: a rank needs 3.00 MiB of 2.00 MiB; compile with --memory-limit"));
  EXPECT_EQ(toJson(estimate)["fits"], false);
}

TEST(EstimateText, ScalingIsThatOfTheFirstLine) {
  StepEstimate first = getPipeline(), more = getPipeline(), nothing = StepEstimate();
  more.ranks = 16;
  more.stepSeconds = 2.5;
  EXPECT_DOUBLE_EQ(getScaling(first, more), 0.8);
  EXPECT_DOUBLE_EQ(getScaling(first, nothing), 1);  // a program without instructions takes no time
  std::string table = toTable({first, more});
  EXPECT_THAT(table, HasSubstr(" 98.5 %  100.0 %  stage=2 data=4\n"));
  EXPECT_THAT(table, HasSubstr(" 98.5 %   80.0 %  stage=2 data=4\n"));
}

TEST(EstimateText, JsonLeavesOutWhatIsNotKnown) {
  auto json = toJson(getPipeline());
  EXPECT_EQ(json["mesh"]["data"], 4);
  EXPECT_EQ(json["sent_bytes"]["network"], 2048);
  EXPECT_EQ(json["stages"].size(), 2u);
  EXPECT_EQ(json["stages"][1]["message_wait_seconds"], 1.5);
  EXPECT_EQ(json["model_state_bytes"], 2047);
  EXPECT_EQ(json["failures"]["best_interval_seconds"], 4500);
  auto empty = toJson(StepEstimate());
  for (const char* key :
       {"mesh", "fits", "device_bytes", "failures", "epoch", "stages", "sent_bytes", "model_tflops_per_rank"})
    EXPECT_FALSE(empty.contains(key)) << key;
  EXPECT_EQ(empty["tflops_per_rank"], 0);  // and not 0 / 0
}

}  // namespace
