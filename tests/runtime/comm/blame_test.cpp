// Follows waits to the ranks at fault, and says so.
#include "runtime/comm/control/blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "runtime/comm/shared_memory/shared_wait.h"

namespace sgd::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RankReport Waits(std::vector<uint32_t> awaited) {
  return {.answers = true, .waits = {{"x", std::move(awaited)}}, .where = ""};
}
RankReport Computes() { return {}; }
RankReport Silent() { return {.answers = false, .waits = {{"an old wait", {0}}}, .where = ""}; }

std::string Text(const RankWait& own, const Blame& blame) {
  return std::string(LateError(own, blame, " sent nothing", absl::Seconds(30)).message());
}

TEST(Blame, ARankThatIsWaitedForDirectly) {
  const RankWait own{"all_reduce #3", {1, 2}};
  const std::vector<RankReport> reports = {Waits({1, 2}), Waits({2}), Silent()};
  const Blame blame = FindBlame(0, own, reports);
  EXPECT_THAT(blame.ranks, ElementsAre(2));
  EXPECT_EQ(Text(own, blame), "all_reduce #3: rank 2 sent nothing within 30s");
}

TEST(Blame, ARankAtTheEndOfAChain) {
  const RankWait own{"receive", {1}};
  for (const bool is_silent : {false, true}) {
    const std::vector<RankReport> reports = {Waits({1}), Waits({2}), Waits({3}), is_silent ? Silent() : Computes()};
    const Blame blame = FindBlame(0, own, reports);
    EXPECT_THAT(blame.ranks, ElementsAre(3));
    EXPECT_EQ(Text(own, blame), absl::StrCat("receive: rank 3 did not ", is_silent ? "answer" : "go on",
                                             " within 30s: rank 0 waits for rank 1 in receive, rank 1 waits for rank 2 "
                                             "in x, rank 2 waits for rank 3 in x"));
  }
}

TEST(Blame, RanksThatDoNotAnswerComeBeforeThoseThatCompute) {
  const std::vector<RankReport> reports = {Waits({1, 2}), Computes(), Waits({3}), Silent()};
  EXPECT_THAT(FindBlame(0, {"x", {1, 2}}, reports).ranks, ElementsAre(3));
}

TEST(Blame, SaysWhereRanksAtFaultAre) {
  const RankWait own{"all_reduce #3", {1, 2, 3}};
  std::vector<RankReport> reports = {Waits({1, 2, 3}), Computes(), Computes(), Computes()};
  reports[0].where = "nothing to do with it";
  reports[2].where = "thread 7 (state R): main";
  EXPECT_EQ(Text(own, FindBlame(0, own, reports)),
            "all_reduce #3: ranks 1, 2, 3 sent nothing within 30s; rank 2 is at thread 7 (state R): main");
  reports[1].where = "thread 5";
  reports[3].where = "thread 9";
  EXPECT_EQ(FindBlame(0, own, reports).where, "rank 1 is at thread 5; rank 2 is at thread 7 (state R): main");
}

TEST(Blame, ACycleIsADeadlock) {
  const RankWait own{"a", {1}};
  const std::vector<RankReport> reports = {Waits({1}), Waits({2}), Waits({1})};
  const Blame blame = FindBlame(0, own, reports);
  EXPECT_THAT(blame.ranks, IsEmpty());
  EXPECT_EQ(Text(own, blame),
            "a: ranks wait for each other since 30s: rank 1 waits for rank 2 in x, rank 2 waits for rank 1 in x");
}

TEST(Blame, WithoutReportsAllAwaitedRanksAreNamed) {
  EXPECT_EQ(LateError({"barrier", {1, 4}}, std::nullopt, " did not arrive", absl::Seconds(1)).message(),
            "barrier: ranks 1, 4 did not arrive within 1s");
}

// In any graph of waits: ranks at fault are reachable, wait for nobody or do not answer, and there are some unless all
// that is reachable waits.
TEST(Blame, IsReadFromMessages) {
  const RankWait wait{"all_reduce #3 (train: instruction 12: a.py:5:1)", {4, 7}};
  const absl::Duration time = absl::Seconds(3);
  const auto read = [](const absl::Status& status) {
    return BlamedRank(
        absl::StrCat("rank 0: program 'train' instruction 12 (all_reduce) at a.py:5:1: step 24: ", status.message()));
  };
  EXPECT_EQ(read(LateError(wait, std::nullopt, " did not arrive", time)), 4);
  EXPECT_EQ(read(LateError(wait, Blame{{7}, {}, false, "rank 7 is at x: rank 3 within y"}, " sent nothing", time)), 7);
  EXPECT_EQ(read(LateError(wait, Blame{{9}, {"rank 0 waits for rank 9 in x"}, true, ""}, " sent nothing", time)), 9);
  const auto host = [](uint32_t rank) { return absl::StrCat("rank ", rank, " (host b)"); };
  EXPECT_EQ(read(LateError(wait, Blame{{7, 8}, {}, false, ""}, " did not arrive", time, host)), 7);
  EXPECT_EQ(read(LateError(wait, Blame{{}, {"rank 0 waits for rank 4 in x"}, false, ""}, "", time)), std::nullopt);
  EXPECT_EQ(BlamedRank("rank 2: killed by signal 9 (Killed), process 17"), std::nullopt);
  EXPECT_EQ(BlamedRank("rank 2: finished nothing in 3s of computing; expected a part of it within 3s"), std::nullopt);
  EXPECT_EQ(BlamedRank(""), std::nullopt);
}

TEST(Blame, OfRandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<RankReport> reports(1 + random() % 6);
    for (RankReport& report : reports) {
      report.answers = random() % 4 != 0;
      for (uint32_t wait = random() % 3; wait > 0; --wait) {
        report.waits.push_back({"x", {static_cast<uint32_t>(random() % reports.size())}});
      }
    }
    const RankWait own{"own", {static_cast<uint32_t>(random() % reports.size())}};
    std::set<uint32_t> reached = {0};
    std::vector<uint32_t> open = {own.awaited[0]};
    bool has_end = false;
    while (!open.empty()) {
      const uint32_t rank = open.back();
      open.pop_back();
      if (!reached.insert(rank).second) continue;
      has_end |= !reports[rank].answers || reports[rank].waits.empty();
      if (!reports[rank].answers) continue;
      for (const RankWait& wait : reports[rank].waits) open.push_back(wait.awaited[0]);
    }
    const Blame blame = FindBlame(0, own, reports);
    EXPECT_EQ(!blame.ranks.empty(), has_end);
    for (uint32_t rank : blame.ranks) {
      EXPECT_TRUE(reached.contains(rank));
      EXPECT_TRUE(!reports[rank].answers || reports[rank].waits.empty());
    }
  }
}

TEST(SharedWait, IsReadAsItWasWritten) {
  const auto wait = std::make_unique<SharedWait>();
  EXPECT_FALSE(wait->Read().has_value());
  wait->Write(std::string(1000, 'd'), {0, 63, 64, 1023});
  EXPECT_EQ(wait->Read()->description, std::string(255, 'd'));
  EXPECT_THAT(wait->Read()->awaited, ElementsAre(0, 63, 64, 1023));
  wait->Clear();
  EXPECT_FALSE(wait->Read().has_value());
}

TEST(SharedWait, IsNeverHalfOfAnother) {
  const auto wait = std::make_unique<SharedWait>();
  std::thread writer([&] {
    for (uint32_t i = 0; i < 20'000; ++i)
      wait->Write(std::string(200, static_cast<char>('a' + i % 26)), std::vector<uint32_t>{i % 26});
  });
  for (int i = 0; i < 20'000; ++i) {
    const std::optional<RankWait> read = wait->Read();
    if (!read.has_value()) continue;
    ASSERT_THAT(read->awaited, ElementsAre(read->description[0] - 'a'));
    ASSERT_EQ(read->description, std::string(200, read->description[0]));
  }
  writer.join();
}

}  // namespace
}  // namespace sgd::comm
