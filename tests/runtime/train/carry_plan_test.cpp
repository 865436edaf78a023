// The user's pairs go before the artifact's; state that neither pairs is refused with a table.
#include "runtime/train/carry_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

data::InputType Tensor(const char* name, data::Dims dims, data::ElementType element = data::ElementType::F32) {
  return {name, {element, dims, dims, {}}};
}

// step(params, momentum, x) -> (params, momentum, loss), of which nothing is known.
Signature Step() {
  Signature step;
  step.name = "main";
  step.inputs = {Tensor("params", {8, 4}), Tensor("momentum", {8, 4}), Tensor("x", {16, 8})};
  step.outputs = {Tensor("result[0]", {8, 4}), Tensor("result[1]", {8, 4}), Tensor("result[2]", {})};
  return step;
}

Signature KnownStep() {
  Signature step = Step();
  step.carry = {{0, 0}, {1, 1}};
  step.basis = {artifact::CarryBasis::Names, artifact::CarryBasis::Names};
  return step;
}

Signature DoubtfulStep() {
  Signature step = Step();
  step.doubts = {{0, {"position says otherwise", 1}}, {1, {"position says otherwise", 0}}};
  return step;
}

CarryRequest Request(exec::CarryPairs pairs, std::set<size_t> kept = {}) {
  return {false, std::move(pairs), std::move(kept)};
}

CarryRequest Nothing() { return {true, {}, {}}; }

std::string Refusal(const Signature& program, const CarryRequest& request, const std::set<size_t>& fed = {}) {
  const auto plan = PlanCarry(program, request);
  if (!plan.ok()) return std::string(plan.status().message());
  return std::string(CheckCarryKnown(program, request, *plan, fed, "--steps 4").message());
}

TEST(CarryPlan, TakesWhatTheArtifactKnows) {
  const auto plan = PlanCarry(KnownStep(), {});
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->pairs, ElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_THAT(plan->doubts, IsEmpty());
  EXPECT_EQ(Refusal(KnownStep(), {}), "");
}

TEST(CarryPlan, TheUserGoesFirstAndTheRestStays) {
  const auto swapped = PlanCarry(KnownStep(), Request({{1, 0}, {0, 1}}));
  ASSERT_TRUE(swapped.ok());
  EXPECT_THAT(swapped->pairs, ElementsAre(Pair(0, 1), Pair(1, 0)));
  const auto kept = PlanCarry(KnownStep(), Request({}, {1}));
  ASSERT_TRUE(kept.ok());
  EXPECT_THAT(kept->pairs, ElementsAre(Pair(0, 0)));
  EXPECT_EQ(Refusal(KnownStep(), Request({}, {1})), "");
}

// The pairs of the artifact may be repeated, and left out.
TEST(CarryPlan, CommitsAreOfTheArtifactsPairs) {
  Signature step = KnownStep();
  step.outputs.push_back(Tensor("commit", {}, data::ElementType::Bool));
  step.commit = 3;
  EXPECT_EQ(Refusal(step, {}), "");
  EXPECT_EQ(Refusal(step, Request({{1, 1}})), "");
  EXPECT_EQ(Refusal(step, Request({}, {1})), "");
  EXPECT_EQ(
      Refusal(step, Request({{1, 0}, {0, 1}})),
      "cannot carry output result1 'result[1]' (f32[8,4]) to input arg0 'params' (f32[8,4]) of program 'main': "
      "output result3 'commit' (bool[]) decides whether a step is committed, and this pair was not known when the "
      "program was compiled; expected the pairs of the artifact; name state alike in arguments and results, and "
      "compile again");
}

TEST(CarryPlan, AnInputWhoseResultIsTakenAwayIsOpen) {
  const auto plan = PlanCarry(KnownStep(), Request({{1, 0}}));
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->pairs, ElementsAre(Pair(1, 0)));
  EXPECT_THAT(plan->doubts, ElementsAre(Key(1)));
  EXPECT_THAT(Refusal(KnownStep(), Request({{1, 0}})), HasSubstr("1 input has no next value that is certain"));
  EXPECT_THAT(Refusal(KnownStep(), Request({{1, 0}})),
              HasSubstr("say --carry result1:arg0,none:arg1 if that is meant"));
  EXPECT_EQ(Refusal(KnownStep(), Request({{1, 0}}, {1})), "");
}

TEST(CarryPlan, DoubtIsRefusedWithTheFlagThatSettlesIt) {
  const std::string text = Refusal(DoubtfulStep(), {});
  EXPECT_THAT(text,
              HasSubstr("program 'main': --steps 4 needs to know what goes from step to step, but 2 inputs have no "
                        "next value that is certain"));
  EXPECT_THAT(text, HasSubstr("arg0 'params' (f32[8,4])    undecided: result1 'result[1]' (f32[8,4]): position says "
                              "otherwise\n"));
  EXPECT_THAT(text, HasSubstr("arg2 'x' (f32[16,8])        the same\n"));
  EXPECT_THAT(text, HasSubstr("no input's next value: result0 'result[0]' (f32[8,4]), result1 'result[1]' (f32[8,4]), "
                              "result2 'result[2]' (f32[])\n"));
  EXPECT_THAT(text, HasSubstr("say --carry result1:arg0,result0:arg1 if that is meant"));
  EXPECT_EQ(Refusal(DoubtfulStep(), Request({{1, 0}, {0, 1}})), "");
  EXPECT_EQ(Refusal(DoubtfulStep(), Request({{1, 0}}, {1})), "");
  EXPECT_THAT(Refusal(DoubtfulStep(), Request({{1, 0}})), HasSubstr("1 input has"));
  EXPECT_EQ(Refusal(DoubtfulStep(), Nothing()), "");
}

// step(params, x) -> (loss, gradients): no pair of the two, and no run without the parameters.
TEST(CarryPlan, GradientsAreNeverAdvised) {
  Signature step = Step();
  step.doubts = {{0, {"a result has its path, but it may be a gradient", std::nullopt}}, {1, {"position", 1}}};
  const std::string text = Refusal(step, {});
  EXPECT_THAT(text, HasSubstr("say --carry OUT:IN,... if that is meant"));
  EXPECT_THAT(text, HasSubstr("return the updated parameters, or let sgdc build the step from the loss"));
  EXPECT_THAT(text, Not(HasSubstr("result0:")));
  EXPECT_THAT(text, Not(HasSubstr("none:arg0")));
}

// m * 0.9 + g: the result is the next m, whatever g is.
TEST(CarryPlan, AnOutputIsAdvisedOnce) {
  Signature step = Step();
  step.carry = {{0, 0}};
  step.basis = {artifact::CarryBasis::Dataflow};
  step.doubts = {{1, {"the next value of another input is computed from it as if from its own", 0}}};
  EXPECT_THAT(Refusal(step, {}), HasSubstr("say --carry none:arg1 if that is meant"));
  step.inputs[1].role = artifact::InputRole::Parameter;
  EXPECT_THAT(Refusal(step, {}), HasSubstr("say --carry OUT:IN,... if that is meant"));
}

TEST(CarryPlan, WhatDataFeedsIsNoDoubt) {
  Signature step = KnownStep();
  step.doubts = {{2, {"a result has its type", 0}}};
  EXPECT_THAT(Refusal(step, {}), HasSubstr("1 input has"));
  EXPECT_EQ(Refusal(step, {}, {2}), "");
}

TEST(CarryPlan, CarryingNothingMustBeAskedFor) {
  EXPECT_THAT(Refusal(Step(), {}), HasSubstr("every step would be the first one again"));
  EXPECT_THAT(Refusal(Step(), {}), HasSubstr("say --carry OUT:IN,... if that is meant"));
  EXPECT_EQ(Refusal(Step(), Nothing()), "");
  EXPECT_EQ(PlanCarry(KnownStep(), Nothing())->pairs.size(), 0u);
}

TEST(CarryPlan, WrongPairs) {
  EXPECT_THAT(Refusal(Step(), Request({{2, 0}})), HasSubstr("cannot carry output result2"));
  EXPECT_THAT(Refusal(Step(), Request({{0, 0}, {1, 0}})), HasSubstr("two outputs are carried to input arg0 'params'"));
  EXPECT_THAT(Refusal(Step(), Request({{0, 0}}, {0})), HasSubstr("none and an output are carried to input arg0"));
  EXPECT_THAT(Refusal(Step(), Request({{7, 0}})), HasSubstr("has 3 outputs and 3 inputs"));
  Signature sharded = Step();
  sharded.inputs[0].type.local_dims = {4, 4};
  EXPECT_THAT(Refusal(sharded, Request({{0, 0}})), HasSubstr("they are sharded differently"));
}

TEST(CarryPlan, LongTablesShowWhatIsOpen) {
  Signature step = DoubtfulStep();
  for (int i = 0; i < 100; ++i) step.inputs.push_back(Tensor("constant", {2}));
  const std::string text = Refusal(step, {});
  EXPECT_THAT(text, HasSubstr("(101 more inputs are decided: see sgd-inspect)"));
  EXPECT_THAT(text, Not(HasSubstr("constant")));
}

}  // namespace
}  // namespace sgd::train
