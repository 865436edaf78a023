// Two toys side by side.
#include "runtime/page/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/page/toy.h"

namespace sgd::page {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Comparison : public ::testing::Test {
 protected:
  std::string Text(const nlohmann::json& before, const nlohmann::json& after, uint32_t ranks = 2) {
    const Plans a = ToyPlans(folder_ / "a.sgda", WithRecords(before));
    const Plans b = ToyPlans(folder_ / "b.sgda", WithRecords(after, ranks));
    const auto text = CompareText(a, b);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.ok() ? *text : "";
  }

  data::TemporaryFolder folder_;
};

TEST_F(Comparison, OfItselfHasNoDifference) {
  const std::string text = Text(ToyRecords(1024, "gradient of w"), ToyRecords(1024, "gradient of w"));
  EXPECT_THAT(text, HasSubstr("collectives and messages: the same\nshardings: the same\n"));
  EXPECT_THAT(text, HasSubstr("bytes sent                               1024 B             1024 B\n"));
  EXPECT_THAT(text, HasSubstr("step time                                  1 ms               1 ms\n"));
}

TEST_F(Comparison, NamesWhatIsAddedRemovedAndChanged) {
  std::string text = Text(ToyRecords(1024, "gradient of w"), ToyRecords(512, "gradient of w"));
  EXPECT_THAT(text, HasSubstr("1024 B              512 B  -50.0 %\n"));
  EXPECT_THAT(text, HasSubstr("  changed train: all_reduce over data of gradient of w: 1024 B -> 512 B\n"));
  text = Text(ToyRecords(1024, "gradient of w"), ToyRecords(1024, "new w"));
  EXPECT_THAT(text, HasSubstr("  removed train: all_reduce over data of gradient of w: 1024 B -> none\n"));
  EXPECT_THAT(text, HasSubstr("  added train: all_reduce over data of new w: none -> 1024 B\n"));
  text = Text(ToyRecords(0, "x"), ToyRecords(0, "x"), 4);
  EXPECT_THAT(text, HasSubstr("  changed train: x: [data, -] f32[4,4] -> [data, -] f32[2,4]\n"));
  EXPECT_THAT(text, Not(HasSubstr("params"))) << "w is whole on every rank of both";
}

TEST_F(Comparison, TakesRecordsOfAnyShape) {
  for (const char* text : {"{}", R"({"report": 7, "groups": {"a": 1}})",
                           R"({"report": {"memory": []}, "groups": [1, null, {"axes": 3}]})"})
    EXPECT_THAT(Text(nlohmann::json::parse(text), ToyRecords(1, "\n</b>")), HasSubstr("added train: all_reduce"));
}

TEST_F(Comparison, PlansOfNoCommonNameAreRefused) {
  const std::vector<uint8_t> records = PackRecords("{}");
  WriteToyPlans(folder_ / "two.sgda",
                {{"p", {.ranks = 1, .records = records}}, {"q", {.ranks = 2, .records = records}}});
  auto bundle = artifact::Bundle::Open(folder_ / "two.sgda");
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  Plans two;
  for (const char* name : {"p", "q"}) two.push_back(*bundle->Load({.name = name}));
  const Plans one = ToyPlans(folder_ / "one.sgda", WithRecords(ToyRecords(1, "w")));
  EXPECT_THAT(std::string(CompareText(two, one).status().message()),
              HasSubstr("have no plan of one name: p, q and data=2; expected plans to compare; choose one by --plan"));
  EXPECT_TRUE(CompareText(two, two).ok());
}

}  // namespace
}  // namespace sgd::page
