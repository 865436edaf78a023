// Which stragglers are replaced, on which cores, and why others are not.
#include "runtime/train/straggler_replacement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <memory>
#include <optional>

#include "runtime/launch/interruption.h"
#include "runtime/train/replacement_board.h"
#include "runtime/train/straggler_replacer.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = Replacement::Kind;

// Three cores of one node for two ranks: the first has core 0, the second the others.
ReplacementOptions Options() {
  return {.every = 1000,
          .last = std::nullopt,
          .restarts_left = 3,
          .ranks = 2,
          .threads = 1,
          .hosts = 1,
          .has_spare_host = false,
          .cores = {{0, 0}, {1, 0}, {2, 0}}};
}

watch::Straggler Slow(uint32_t rank, uint64_t step = 5000) {
  watch::Straggler straggler;
  straggler.rank = rank;
  straggler.step = step;
  straggler.has_lasted = true;
  return straggler;
}

// By a reading in which nothing has run yet, and one with the idle share of each core in percent.
Replacement Decide(const ReplacementOptions& options, const watch::Straggler& straggler,
                   const std::map<int, uint64_t>& idle = {{0, 0}, {1, 0}, {2, 100}}) {
  bool is_first = true;
  StragglerReplacement replacement(options, [&] {
    std::map<int, launch::CoreTime> times;
    for (const auto& [core, share] : idle) times[core] = is_first ? launch::CoreTime{} : launch::CoreTime{share, 100};
    is_first = false;
    return times;
  });
  replacement.Found();
  return replacement.Decide(straggler);
}

TEST(StragglerReplacement, MovesARankToAnIdleCore) {
  const Replacement replacement = Decide(Options(), Slow(0));
  EXPECT_EQ(replacement.kind, Kind::kOtherCores);
  EXPECT_THAT(replacement.avoided, ElementsAre(0));
  EXPECT_EQ(replacement.reason, "");
}

TEST(StragglerReplacement, NeedsACoreForEveryThread) {
  EXPECT_EQ(Decide(Options(), Slow(0), {{1, 0}, {2, 50}}).reason, "the host's other cores are busy");
  // The second rank has two cores; without them one is left for two ranks.
  EXPECT_EQ(Decide(Options(), Slow(1)).reason, "this host has no core to spare");
  ReplacementOptions full = Options();
  full.cores.pop_back();
  EXPECT_EQ(Decide(full, Slow(0)).reason, "this host has no core to spare");
  full.cores.pop_back();
  EXPECT_THAT(Decide(full, Slow(0)).reason, HasSubstr("fewer cores than ranks"));
}

TEST(StragglerReplacement, ReplacesForSlowComputingAlone) {
  watch::Straggler input = Slow(0), busy = Slow(0);
  input.cause = watch::StragglerCause::kInput;
  busy.lacks_cores = true;
  EXPECT_EQ(Decide(Options(), input).reason, "another core would not help with its input");
  EXPECT_EQ(Decide(Options(), busy).reason, "other processes run on its cores");
}

TEST(StragglerReplacement, KeepsToTheLimits) {
  ReplacementOptions options = Options();
  options.last = 4001;
  EXPECT_EQ(Decide(options, Slow(0)).reason,
            "the last replacement was before step 4001, and 1000 steps lie between two");
  options.last = 4000;
  EXPECT_EQ(Decide(options, Slow(0)).kind, Kind::kOtherCores);
  options.restarts_left = 0;
  EXPECT_EQ(Decide(options, Slow(0)).reason, "--restarts are used up");
}

TEST(StragglerReplacement, NeedsASpareHostWhereThereAreSeveral) {
  ReplacementOptions options = Options();
  options.hosts = 2;
  EXPECT_EQ(Decide(options, Slow(0)).reason, "the run is on several hosts and has no spare one");
  options.has_spare_host = true;
  EXPECT_EQ(Decide(options, Slow(0)).kind, Kind::kOtherHost);
}

TEST(StragglerReplacer, AsksTheRanksToGiveWayOnce) {
  comm::RunAsThreads(1, 0, [](comm::SharedMemoryCommunicator& communicator) {
    comm::Control& control = communicator.control();
    const std::shared_ptr<ReplacementBoard> board = *ReplacementBoard::Create();
    // Cores that are not listed are idle.
    StragglerReplacer replacer(StragglerReplacement(Options(), [] { return std::map<int, launch::CoreTime>(); }),
                               control, *board);
    watch::Straggler found = Slow(0), reading = Slow(0), slow = Slow(0);
    found.has_lasted = false;
    EXPECT_TRUE(replacer.Judge(found));
    reading.cause = watch::StragglerCause::kInput;
    EXPECT_TRUE(replacer.Judge(reading));
    EXPECT_EQ(reading.reason, "another core would not help with its input");
    EXPECT_FALSE(replacer.Judge(reading)) << "a reason is told once";
    EXPECT_EQ(control.stop_signal(), 0);
    EXPECT_TRUE(replacer.Judge(slow));
    EXPECT_TRUE(slow.is_replaced);
    EXPECT_EQ(control.stop_signal(), launch::kGiveWaySignal);
    EXPECT_FALSE(replacer.Judge(slow)) << "the ranks stop already";
    EXPECT_EQ(board->Take(), std::nullopt) << "before they have stopped";
    replacer.GiveWay();
    EXPECT_EQ(board->Take(), 0);
    EXPECT_EQ(board->Take(), std::nullopt);
  });
}

TEST(StragglerReplacer, LeavesAStopOfTheUserAlone) {
  comm::RunAsThreads(1, 0, [](comm::SharedMemoryCommunicator& communicator) {
    const std::shared_ptr<ReplacementBoard> board = *ReplacementBoard::Create();
    StragglerReplacer replacer(StragglerReplacement(Options(), [] { return std::map<int, launch::CoreTime>(); }),
                               communicator.control(), *board);
    communicator.control().RequestStop(SIGTERM);
    watch::Straggler slow = Slow(0);
    EXPECT_FALSE(replacer.Judge(slow));
    replacer.GiveWay();
    EXPECT_EQ(board->Take(), std::nullopt);
  });
}

}  // namespace
}  // namespace sgd::train
