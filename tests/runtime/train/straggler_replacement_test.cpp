// Which stragglers are replaced, on which cores or host, and why others are not.
#include "runtime/train/straggler_replacement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/launch/interruption.h"
#include "runtime/train/other_cores.h"
#include "runtime/train/replacement_board.h"
#include "runtime/train/straggler_replacer.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::train {
namespace {

using watch::OtherCores;
using Place = ReplacementBoard::Place;
using Asked = ReplacementBoard::Request;

ReplacementOptions Options() {
  return {.every = 1000, .last = std::nullopt, .restarts_left = 3, .has_spare_host = false};
}

watch::Straggler Slow(uint32_t rank, uint64_t step = 5000) {
  watch::Straggler straggler;
  straggler.rank = rank;
  straggler.step = step;
  straggler.has_lasted = true;
  return straggler;
}

// Three cores of one node for two ranks: the first has core 0, the second the others.
const std::vector<launch::Core> kThree = {{0, 0}, {1, 0}, {2, 0}};

// The answer of a rank after a second in which each core was idle for so many percent of the time.
OtherCores LookAfterASecond(const std::vector<launch::Core>& cores, uint32_t rank,
                            const std::map<int, uint64_t>& idle) {
  uint64_t seconds = 0;
  OtherCoresOfHost others(cores, 2, rank, 1, [&] {
    std::map<int, launch::CoreTime> times;
    for (const auto& [core, share] : idle) times[core] = {share * seconds, 100 * seconds};
    return times;
  });
  const absl::Time begin = absl::UnixEpoch();
  const OtherCores first = others.Look(begin);
  if (first != OtherCores::kUnknown) return first;
  seconds = 1;
  return others.Look(begin + absl::Seconds(1));
}

TEST(OtherCoresOfHost, NeedACoreForEveryThread) {
  EXPECT_EQ(LookAfterASecond(kThree, 0, {{0, 0}, {1, 0}, {2, 100}}), OtherCores::kIdle);
  EXPECT_EQ(LookAfterASecond(kThree, 0, {{1, 0}, {2, 50}}), OtherCores::kBusy);
  // The second rank has two cores; without them one is left for two ranks.
  EXPECT_EQ(LookAfterASecond(kThree, 1, {}), OtherCores::kTooFew);
  EXPECT_EQ(LookAfterASecond({{0, 0}, {1, 0}}, 0, {}), OtherCores::kTooFew);
  EXPECT_EQ(LookAfterASecond({{0, 0}}, 0, {}), OtherCores::kUnbound);
}

TEST(OtherCoresOfHost, CountTheLastSecondsAlone) {
  uint64_t idle = 0, total = 0;
  OtherCoresOfHost others(kThree, 2, 0, 1,
                          [&] { return std::map<int, launch::CoreTime>{{1, {0, total}}, {2, {idle, total}}}; });
  absl::Time now = absl::UnixEpoch();
  const auto looks = [&](int seconds, uint64_t share) {
    OtherCores last = OtherCores::kUnknown;
    for (int look = 0; look < 2 * seconds; ++look) {
      last = others.Look(now);
      now += absl::Milliseconds(500);
      idle += share / 2;
      total += 50;
    }
    return last;
  };
  EXPECT_EQ(others.Look(now), OtherCores::kUnknown);
  EXPECT_EQ(looks(100, 0), OtherCores::kBusy);
  EXPECT_EQ(looks(6, 100), OtherCores::kIdle);
  EXPECT_EQ(looks(6, 0), OtherCores::kBusy);
}

TEST(StragglerReplacement, PrefersCoresOfTheSameHost) {
  ReplacementOptions options = Options();
  EXPECT_EQ(DecideOnReplacement(options, Slow(0), OtherCores::kIdle).place, Place::kOtherCores);
  for (const auto& [cores, reason] : {std::pair(OtherCores::kBusy, "the host's other cores are busy"),
                                      {OtherCores::kTooFew, "this host has no core to spare"},
                                      {OtherCores::kUnbound, "fewer cores than ranks"},
                                      {OtherCores::kUnknown, "not known yet"}}) {
    options.has_spare_host = false;
    const Replacement none = DecideOnReplacement(options, Slow(0), cores);
    EXPECT_EQ(none.place, std::nullopt);
    EXPECT_THAT(none.reason, ::testing::HasSubstr(reason));
    options.has_spare_host = true;
    EXPECT_EQ(DecideOnReplacement(options, Slow(0), cores).place, Place::kOtherHost) << reason;
  }
  EXPECT_EQ(DecideOnReplacement(options, Slow(0), OtherCores::kIdle).place, Place::kOtherCores);
}

TEST(StragglerReplacement, ReplacesForSlowComputingAlone) {
  watch::Straggler input = Slow(0), busy = Slow(0);
  input.cause = watch::StragglerCause::kInput;
  busy.lacks_cores = true;
  EXPECT_EQ(DecideOnReplacement(Options(), input, OtherCores::kIdle).reason,
            "another core would not help with its input");
  EXPECT_EQ(DecideOnReplacement(Options(), busy, OtherCores::kIdle).reason, "other processes run on its cores");
}

TEST(StragglerReplacement, KeepsToTheLimits) {
  ReplacementOptions options = Options();
  options.last = 4001;
  EXPECT_EQ(DecideOnReplacement(options, Slow(0), OtherCores::kIdle).reason,
            "the last replacement was before step 4001, and 1000 steps lie between two");
  options.last = 4000;
  EXPECT_EQ(DecideOnReplacement(options, Slow(0), OtherCores::kIdle).place, Place::kOtherCores);
  options.restarts_left = 0;
  EXPECT_EQ(DecideOnReplacement(options, Slow(0), OtherCores::kIdle).reason, "--restarts are used up");
}

// A rank of two, whose host has the other cores that it says.
struct Rank {
  Rank(comm::Control& control, OtherCores other_cores)
      : watch(*watch::StepWatch::Create(control, {.place = {.host = "h", .cores = "core 0", .group = 0},
                                                  .other_cores = [=] { return other_cores; }})),
        replacer(Options(), *watch, control, *board) {
    watch->StepEnded(0, absl::Milliseconds(1), absl::ZeroDuration());
  }
  std::unique_ptr<watch::StepWatch> watch;
  std::shared_ptr<ReplacementBoard> board = *ReplacementBoard::Create();
  StragglerReplacer replacer;
};

TEST(StragglerReplacer, AllRanksTellTheirLaunchersWhomRankZeroHasChosen) {
  comm::RunAsThreads(2, 0, [](comm::SharedMemoryCommunicator& communicator) {
    comm::Control& control = communicator.control();
    Rank rank(control, control.rank() == 1 ? OtherCores::kIdle : OtherCores::kBusy);
    ASSERT_TRUE(control.Barrier(absl::Seconds(60)).ok());
    if (control.rank() == 0) {
      watch::Straggler found = Slow(1), busy = Slow(0), slow = Slow(1);
      found.has_lasted = false;
      EXPECT_TRUE(rank.replacer.Judge(found));
      EXPECT_TRUE(rank.replacer.Judge(busy));
      EXPECT_EQ(busy.reason, "the host's other cores are busy");
      EXPECT_FALSE(rank.replacer.Judge(busy)) << "a reason is told once";
      EXPECT_EQ(control.stop_signal(), 0);
      EXPECT_TRUE(rank.replacer.Judge(slow));
      EXPECT_TRUE(slow.is_replaced);
      EXPECT_EQ(control.stop_signal(), launch::kGiveWaySignal);
      EXPECT_FALSE(rank.replacer.Judge(slow)) << "the ranks stop already";
    }
    EXPECT_EQ(rank.board->Take(), std::nullopt) << "before they have stopped";
    ASSERT_TRUE(rank.replacer.GiveWay(absl::Seconds(60)).ok());
    EXPECT_EQ(rank.board->Take(), (Asked{.rank = 1, .place = Place::kOtherCores}));
    EXPECT_EQ(rank.board->Take(), std::nullopt);
  });
}

TEST(StragglerReplacer, LeavesAStopOfTheUserAlone) {
  comm::RunAsThreads(1, 0, [](comm::SharedMemoryCommunicator& communicator) {
    Rank rank(communicator.control(), OtherCores::kIdle);
    communicator.control().RequestStop(SIGTERM);
    watch::Straggler slow = Slow(0);
    EXPECT_FALSE(rank.replacer.Judge(slow));
    ASSERT_TRUE(rank.replacer.GiveWay(absl::Seconds(60)).ok());
    EXPECT_EQ(rank.board->Take(), std::nullopt);
  });
}

TEST(ReplacementBoard, RequestsTravelAsNumbers) {
  EXPECT_EQ(ReplacementBoard::Decode(ReplacementBoard::Encode(std::nullopt)), std::nullopt);
  for (const uint32_t rank : {0u, 1u, 255u, 256u, UINT32_MAX}) {
    for (const Place place : {Place::kOtherCores, Place::kOtherHost})
      EXPECT_EQ(ReplacementBoard::Decode(ReplacementBoard::Encode(Asked{rank, place})), (Asked{rank, place}));
  }
}

}  // namespace
}  // namespace sgd::train
