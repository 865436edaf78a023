// Every list of up to four steps, with every combination of operands: those that are accepted are the ones that are
// written down here.
#include "runtime/library/epilogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sgd::library {
namespace {

using ::testing::UnorderedElementsAreArray;

std::vector<Epilogue> AllLists(size_t length) {
  std::vector<Epilogue> lists = {{}};
  for (size_t begin = 0; length > 0; --length) {
    const size_t end = lists.size();
    for (size_t i = begin; i < end; ++i) {
      for (const EpilogueStepTraits& traits : kEpilogueSteps) {
        Epilogue longer = lists[i];
        EXPECT_TRUE(longer.Append(traits.step));
        lists.push_back(longer);
      }
    }
    begin = end;
  }
  return lists;
}

EpilogueCall CallOf(CallKind kind, int operands) {
  return {.kind = kind,
          .has_bias = (operands & 1) != 0,
          .has_aux = (operands & 2) != 0,
          .has_reduction = (operands & 4) != 0};
}

// The accepted lists with their operands: b(ias), a(ux), r(eduction).
std::vector<std::string> AcceptedBy(CallKind kind) {
  std::vector<std::string> accepted;
  for (const Epilogue& list : AllLists(4)) {
    for (int operands = 0; operands < 8; ++operands) {
      if (!FaultOf(list, CallOf(kind, operands)).empty()) continue;
      accepted.push_back(TextOf(list, "+") + ":" + (operands & 1 ? "b" : "") + (operands & 2 ? "a" : "") +
                         (operands & 4 ? "r" : ""));
    }
  }
  return accepted;
}

TEST(Epilogue, ListsOfMatmuls) {
  EXPECT_THAT(AcceptedBy(CallKind::kMatmul), UnorderedElementsAreArray({":",
                                                                        "residual:",
                                                                        "bias:b",
                                                                        "residual+bias:b",
                                                                        "relu:",
                                                                        "residual+relu:",
                                                                        "bias+relu:b",
                                                                        "residual+bias+relu:b",
                                                                        "gelu:",
                                                                        "gelu:a",
                                                                        "residual+gelu:",
                                                                        "residual+gelu:a",
                                                                        "bias+gelu:b",
                                                                        "bias+gelu:ba",
                                                                        "residual+bias+gelu:b",
                                                                        "residual+bias+gelu:ba",
                                                                        "gelu_gradient:a",
                                                                        "residual+gelu_gradient:a",
                                                                        "bias+gelu_gradient:ba",
                                                                        "residual+bias+gelu_gradient:ba",
                                                                        "lhs_reduction:r",
                                                                        "rhs_reduction:r"}));
}

TEST(Epilogue, ListsOfConvolutions) {
  EXPECT_THAT(AcceptedBy(CallKind::kConvolution),
              UnorderedElementsAreArray({":", "residual:", "bias:b", "residual+bias:b",
                                         "relu:", "residual+relu:", "bias+relu:b", "residual+bias+relu:b"}));
}

TEST(Epilogue, SaysWhatIsWrong) {
  const auto fault = [](const Epilogue& epilogue, const EpilogueCall& call = {}) { return FaultOf(epilogue, call); };
  EXPECT_EQ(fault({EpilogueStep::kRelu, EpilogueStep::kBias}, {.has_bias = true}),
            "bias after relu; expected residual, bias and then one of the others");
  EXPECT_EQ(fault({static_cast<EpilogueStep>(9)}), "unknown epilogue step 9");
  EXPECT_EQ(fault({EpilogueStep::kLhsReduction}, {.is_batched = true, .has_reduction = true}),
            "lhs_reduction in batches");
  EXPECT_EQ(fault({}, {.has_aux = true}), "an operand aux that no epilogue step needs");
}

TEST(Epilogue, IsAListOfSteps) {
  const Epilogue list = {EpilogueStep::kResidual, EpilogueStep::kBias, EpilogueStep::kRelu};
  EXPECT_EQ(list.Without(EpilogueStep::kBias), (Epilogue{EpilogueStep::kResidual, EpilogueStep::kRelu}));
  EXPECT_EQ(TextOf(list), "residual, bias, relu");
  EXPECT_EQ(TextOf({}), "");
  Epilogue full;
  for (size_t i = 0; i < kNumEpilogueSteps; ++i) EXPECT_TRUE(full.Append(EpilogueStep::kBias));
  EXPECT_FALSE(full.Append(EpilogueStep::kBias));
}

}  // namespace
}  // namespace sgd::library
