// Reports come back as they were sent, and all ranks find the same first alarm.
#include "runtime/guard/rank_report.h"

#include <gtest/gtest.h>

namespace sgd::guard {
namespace {

TEST(RankReport, ComesBackAsItWas) {
  const RankReport report{.change = {.tensor = 3, .steps_done = 8},
                          .alarm = {.kind = AlarmKind::kLossLimit, .step = 7, .tensor = 2, .value = 1.5, .limit = 1},
                          .is_different = 1,
                          .digests = {11, 12}};
  const absl::StatusOr<RankReport> read = RankReport::FromBytes(report.Bytes(), 2);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->change.tensor, 3u);
  EXPECT_EQ(read->change.steps_done, 8u);
  EXPECT_EQ(read->alarm.kind, AlarmKind::kLossLimit);
  EXPECT_EQ(read->alarm.value, 1.5);
  EXPECT_EQ(read->is_different, 1u);
  EXPECT_EQ(read->digests, report.digests);
  EXPECT_EQ(RankReport::FromBytes(report.Bytes(), 3).status().code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(RankReport::FromBytes("", 0).ok());
}

TEST(RankReport, TheEarliestStepIsFirstThenTheGravestThenTheLowestRank) {
  std::vector<RankReport> reports(4);
  EXPECT_FALSE(FindFirstAlarm(reports).alarm.is_set());
  reports[3].alarm = {.kind = AlarmKind::kStateNotFinite, .step = 5, .tensor = 1};
  EXPECT_EQ(FindFirstAlarm(reports).rank, 3u);
  reports[2].alarm = {.kind = AlarmKind::kLossNotFinite, .step = 5};
  EXPECT_EQ(FindFirstAlarm(reports).rank, 2u);
  reports[1].alarm = {.kind = AlarmKind::kLossNotFinite, .step = 5};
  EXPECT_EQ(FindFirstAlarm(reports).rank, 1u);
  reports[0].alarm = {.kind = AlarmKind::kLossNotFinite, .step = 6};
  EXPECT_EQ(FindFirstAlarm(reports).rank, 1u);
}

TEST(RankReport, NamesRanks) {
  EXPECT_EQ(RanksText(std::vector<uint32_t>{4}), "rank 4");
  EXPECT_EQ(RanksText(std::vector<uint32_t>{0, 2}), "ranks 0 and 2");
  EXPECT_EQ(RanksText(std::vector<uint32_t>{0, 2, 3}), "ranks 0, 2 and 3");
}

}  // namespace
}  // namespace sgd::guard
