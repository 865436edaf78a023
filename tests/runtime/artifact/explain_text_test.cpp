// Every cause in words.
#include "runtime/artifact/explain_text.h"

#include <gtest/gtest.h>

namespace sgd::artifact {
namespace {

ExplainT Sample() {
  ExplainT explain;
  explain.cause = MovementCause::Producer;
  explain.op = "sgd.dot_general";
  explain.tensor = "tensor<64x16xf32>";
  explain.source = "model.py:3:7";
  explain.from = "[{}, {}], unreduced={\"data\"}";
  explain.to = "[{}, {}]";
  explain.kind = "all_reduce";
  explain.step = 1, explain.steps = 2;
  explain.bytes = 6144;
  explain.seconds = 13e-6;
  return explain;
}

TEST(ExplainText, SaysCauseChangeAndStep) {
  EXPECT_EQ(ExplainText(Sample()),
            "tensor<64x16xf32> from sgd.dot_general at model.py:3:7: [{}, {}], unreduced={\"data\"} -> [{}, {}]: step "
            "1 of 2: "
            "all_reduce, 6144 bytes sent, 13.0 us");
  ExplainT whole = Sample();
  whole.holds_whole = true;
  EXPECT_EQ(StepText(whole),
            "step 1 of 2: all_reduce, 6144 bytes sent, 13.0 us, holds the whole tensor: the axes have no common part");
}

TEST(ExplainText, SaysOtherCauses) {
  ExplainT explain = Sample();
  explain.cause = MovementCause::User;
  EXPECT_EQ(CauseText(explain), "tensor<64x16xf32> for sgd.dot_general at model.py:3:7");
  explain.op.clear(), explain.source.clear();
  EXPECT_EQ(CauseText(explain), "tensor<64x16xf32>");
  explain.cause = MovementCause::Constant;
  EXPECT_EQ(CauseText(explain), "constant");
  explain.cause = MovementCause::Moves, explain.op = "sgd.slice", explain.source = "model.py:9:1";
  EXPECT_EQ(CauseText(explain), "sgd.slice along a sharded dimension at model.py:9:1");
}

TEST(ExplainText, SaysWhatHidesACollective) {
  ExplainT explain;
  explain.cause = MovementCause::Overlap;
  explain.seconds = 30e-6, explain.hidden_seconds = 20e-6;
  EXPECT_EQ(ExplainText(explain), "runs beside compute, which hides 20 of its 30 us");
  EXPECT_EQ(StepText(explain), "");
}

}  // namespace
}  // namespace sgd::artifact
