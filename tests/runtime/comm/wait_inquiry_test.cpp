// Answers and verdicts of an inquiry into waits.
#include "runtime/comm/control/wait_inquiry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

WaitsMessage WaitsFor(std::vector<uint32_t> awaited) {
  return {.waits = {{"x", std::move(awaited)}}, .agreements = {}, .where = ""};
}
WaitsMessage ComputesOn() { return {}; }
std::vector<uint32_t> NobodyMissing(uint64_t) { return {}; }

WaitInquiry Inquiry(uint32_t ranks) { return WaitInquiry(7, ranks, absl::InfiniteFuture()); }

TEST(WaitInquiry, IsCompleteWithAllAnswers) {
  WaitInquiry inquiry = Inquiry(3);
  EXPECT_EQ(inquiry.number(), 7);
  inquiry.SetAnswer(0, ComputesOn());
  inquiry.SetAnswer(2, ComputesOn());
  EXPECT_FALSE(inquiry.HasAllAnswers());
  inquiry.SetAnswer(1, std::nullopt);  // not readable
  EXPECT_FALSE(inquiry.HasAllAnswers());
  inquiry.SetAnswer(1, ComputesOn());
  EXPECT_TRUE(inquiry.HasAllAnswers());
}

TEST(WaitInquiry, TheVerdictSaysWhatTheRankAtFaultIsAt) {
  WaitInquiry inquiry = Inquiry(2);
  inquiry.AddAsker(0, {"a", {1}});
  inquiry.SetAnswer(0, WaitsFor({1}));
  WaitsMessage stuck = ComputesOn();
  stuck.where = "thread 7 (state R): main";
  // As they travel.
  inquiry.SetAnswer(1, DecodeWaits(EncodeWaits(stuck)));
  const std::vector<WaitInquiry::Verdict> verdicts = inquiry.Decide(NobodyMissing);
  ASSERT_THAT(verdicts, SizeIs(1));
  const std::optional<Blame> blame = DecodeBlame(EncodeBlame(verdicts[0].blame));
  ASSERT_TRUE(blame.has_value());
  EXPECT_EQ(blame->where, "rank 1 is at thread 7 (state R): main");
}

TEST(WaitInquiry, EveryAskerGetsTheRankAtTheEndOfItsWaits) {
  WaitInquiry inquiry = Inquiry(4);
  inquiry.AddAsker(0, {"a", {1}});
  inquiry.AddAsker(3, {"b", {2}});
  inquiry.SetAnswer(0, WaitsFor({1}));
  inquiry.SetAnswer(1, WaitsFor({2}));
  inquiry.SetAnswer(2, ComputesOn());
  inquiry.SetAnswer(3, WaitsFor({2}));
  const std::vector<WaitInquiry::Verdict> verdicts = inquiry.Decide(NobodyMissing);
  ASSERT_THAT(verdicts, SizeIs(2));
  EXPECT_EQ(verdicts[0].asker, 0);
  EXPECT_EQ(verdicts[1].asker, 3);
  for (const WaitInquiry::Verdict& verdict : verdicts) {
    EXPECT_THAT(verdict.blame.ranks, ElementsAre(2));
    EXPECT_FALSE(verdict.blame.do_not_answer);
  }
}

TEST(WaitInquiry, ARankThatDoesNotAnswerIsAtFaultUnlessItIsDone) {
  for (const bool is_done : {false, true}) {
    WaitInquiry inquiry = Inquiry(3);
    inquiry.AddAsker(0, {"a", {1, 2}});
    inquiry.SetAnswer(0, WaitsFor({1, 2}));
    inquiry.SetAnswer(2, ComputesOn());
    if (is_done) inquiry.SetDone(1);
    const Blame blame = inquiry.Decide(NobodyMissing)[0].blame;
    EXPECT_EQ(blame.do_not_answer, !is_done);
    if (is_done) {
      EXPECT_THAT(blame.ranks, ElementsAre(1, 2));
    } else {
      EXPECT_THAT(blame.ranks, ElementsAre(1));
    }
  }
}

TEST(WaitInquiry, AnAgreementLeadsToTheRanksThatItMisses) {
  WaitInquiry inquiry = Inquiry(3);
  inquiry.AddAsker(0, {"a", {1}});
  inquiry.SetAnswer(0, WaitsFor({1}));
  inquiry.SetAnswer(1, WaitsMessage{.waits = {}, .agreements = {5}, .where = ""});
  inquiry.SetAnswer(2, ComputesOn());
  const auto missing_from = [](uint64_t agreement) {
    EXPECT_EQ(agreement, 5);
    return std::vector<uint32_t>{2};
  };
  const Blame blame = inquiry.Decide(missing_from)[0].blame;
  EXPECT_THAT(blame.ranks, ElementsAre(2));
  EXPECT_THAT(blame.path,
              ElementsAre("rank 0 waits for rank 1 in a", "rank 1 waits for rank 2 in an agreement of all ranks"));
}

TEST(WaitInquiry, OnlyWaitsBesideStepsLeadThroughAgreementsBesideThem) {
  for (const bool is_beside : {false, true}) {
    WaitInquiry inquiry = Inquiry(3);
    inquiry.AddAsker(0, {"a", {1}, is_beside});
    inquiry.SetAnswer(0, ComputesOn());
    inquiry.SetAnswer(1, WaitsMessage{.waits = {}, .agreements = {std::nullopt, 5}, .where = ""});
    inquiry.SetAnswer(2, ComputesOn());
    const auto missing_from = [](uint64_t) { return std::vector<uint32_t>{2}; };
    EXPECT_THAT(inquiry.Decide(missing_from)[0].blame.ranks, ElementsAre(is_beside ? 2 : 1));
  }
}

TEST(WaitInquiry, RanksThatTheJobDoesNotHaveAreDropped) {
  WaitInquiry inquiry = Inquiry(2);
  inquiry.AddAsker(0, {"a", {1, 900}});
  inquiry.SetAnswer(0, WaitsFor({1}));
  inquiry.SetAnswer(1, WaitsFor({2, 4'000'000'000}));
  EXPECT_THAT(inquiry.Decide(NobodyMissing)[0].blame.ranks, ElementsAre(1));
}

TEST(WaitInquiry, RanksThatWaitForEachOtherHaveACycle) {
  WaitInquiry inquiry = Inquiry(2);
  inquiry.AddAsker(0, {"a", {1}});
  inquiry.SetAnswer(0, WaitsFor({1}));
  inquiry.SetAnswer(1, WaitsFor({0}));
  const Blame blame = inquiry.Decide(NobodyMissing)[0].blame;
  EXPECT_THAT(blame.ranks, IsEmpty());
  EXPECT_THAT(blame.path, SizeIs(2));
}

}  // namespace
}  // namespace sgd::comm
