// Tests that every Control must pass, whatever ranks talk through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "rank_threads.h"
#include "runtime/comm/control/gather_values.h"
#include "runtime/comm/tcp/tcp_control.h"
#include "tcp_threads.h"

namespace sgd::comm {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);

using ControlFunction = std::function<void(Control& control)>;

// A way for ranks to talk; expectations inside the function count.
struct Medium {
  std::string name;
  bool spans_hosts;
  std::function<void(uint32_t ranks, const ControlFunction& function)> run;
};

void RunOverTcp(uint32_t ranks, const ControlFunction& function) {
  const HostAndPort place = FreePlace();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      auto links = MeetOverTcp({.place = place, .rank = rank, .size = ranks, .secret = "", .timeout = kTcpTimeout});
      ASSERT_TRUE(links.ok()) << links.status();
      auto channel = ControlChannel::Start(*std::move(links), ChannelOptions(rank, ranks));
      ASSERT_TRUE(channel.ok()) << channel.status();
      ControlChannel* const borrowed = channel->get();
      TcpControl control(*std::move(channel));
      function(control);
      control.Finish();
      EXPECT_TRUE(borrowed->WaitForOthers(kTcpTimeout).ok() || !control.Poll().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

Medium Memory(const std::string& name, void (*run)(uint32_t, uint64_t, const RankFunction&)) {
  return {name, false, [run](uint32_t ranks, const ControlFunction& function) {
            run(ranks, 0, [&](SharedMemoryCommunicator& communicator) { function(communicator.control()); });
          }};
}

std::vector<Medium> Media() {
  std::vector<Medium> media = {Memory("threads", RunAsThreads), {"tcp", true, RunOverTcp}};
  if (CanRunAsProcesses()) media.push_back(Memory("processes", RunAsProcesses));
  return media;
}

class ControlConformance : public ::testing::TestWithParam<Medium> {};

TEST_P(ControlConformance, KnowsRanks) {
  for (const uint32_t ranks : {1u, 3u}) {
    std::atomic<uint32_t> seen = 0;
    GetParam().run(ranks, [&](Control& control) {
      EXPECT_EQ(control.size(), ranks);
      EXPECT_LT(control.rank(), ranks);
      EXPECT_EQ(control.spans_hosts(), GetParam().spans_hosts);
      seen |= 1u << control.rank();
    });
    if (GetParam().name != "processes") EXPECT_EQ(seen, (1u << ranks) - 1);
  }
}

TEST_P(ControlConformance, GathersTextsOfAnyLength) {
  GetParam().run(3, [](Control& control) {
    const auto text = [](uint32_t rank) { return std::string(rank * 70'001, static_cast<char>('a' + rank)); };
    for (int round = 0; round < 3; ++round) {
      const auto all = control.AllGatherBytes(text(control.rank()), kTimeout);
      ASSERT_TRUE(all.ok()) << all.status();
      for (uint32_t rank = 0; rank < 3; ++rank) EXPECT_TRUE((*all)[rank] == text(rank)) << rank;
      const auto of_rank0 = control.GatherBytes(text(control.rank()), kTimeout);
      ASSERT_TRUE(of_rank0.ok()) << of_rank0.status();
      for (uint32_t rank = 0; control.rank() == 0 && rank < 3; ++rank)
        EXPECT_TRUE((*of_rank0)[rank] == text(rank)) << rank;
      const auto none = control.AllGatherBytes("", kTimeout);
      ASSERT_TRUE(none.ok()) << none.status();
      EXPECT_EQ(*none, std::vector<std::string>(3));
    }
  });
}

TEST_P(ControlConformance, GathersNumbers) {
  struct Times {
    double step = 0;
    uint32_t steps = 0;
  };
  GetParam().run(3, [](Control& control) {
    const uint32_t rank = control.rank();
    const auto all = GatherValues(control, Times{0.5 * rank, rank}, kTimeout);
    ASSERT_TRUE(all.ok()) << all.status();
    ASSERT_EQ(all->size(), 3U);
    for (uint32_t other = 0; other < 3; ++other) {
      EXPECT_EQ((*all)[other].step, 0.5 * other);
      EXPECT_EQ((*all)[other].steps, other);
    }
    // Numbers that a double does not hold.
    const uint64_t large = (uint64_t{1} << 53) + 1;
    EXPECT_EQ(*LargestOf(control, large - rank, kTimeout), large);
    EXPECT_EQ(*LeastOf(control, large - rank, kTimeout), large - 2);
  });
  GetParam().run(2, [](Control& control) {
    const absl::Status status = control.rank() == 0 ? GatherValues(control, uint64_t{1}, kTimeout).status()
                                                    : GatherValues(control, uint32_t{1}, kTimeout).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(control.rank() == 0 ? "rank 1 sent 4 bytes" : "rank 0 sent 8"));
  });
}

TEST_P(ControlConformance, RanksWithOneKeyHearOfEachOther) {
  GetParam().run(3, [](Control& control) {
    const auto told =
        control.GatherAmong(control.rank() == 1 ? "b" : "a", absl::StrCat("of ", control.rank()), kTimeout);
    ASSERT_TRUE(told.ok()) << told.status();
    const std::vector<uint32_t> expected = control.rank() == 1 ? std::vector<uint32_t>{1} : std::vector<uint32_t>{0, 2};
    ASSERT_EQ(told->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ((*told)[i].rank, expected[i]);
      EXPECT_EQ((*told)[i].bytes, absl::StrCat("of ", expected[i]));
    }
  });
}

TEST_P(ControlConformance, WhatIsOfferedCanBeLookedUp) {
  GetParam().run(3, [](Control& control) {
    ASSERT_TRUE(control.Offer(absl::StrCat("address of ", control.rank()), kTimeout).ok());
    for (uint32_t rank : {2u, 0u, 1u, 2u}) {
      const auto offered = control.OfferOf(rank, kTimeout);
      ASSERT_TRUE(offered.ok()) << offered.status();
      EXPECT_EQ(*offered, absl::StrCat("address of ", rank));
    }
    EXPECT_FALSE(control.OfferOf(3, kTimeout).ok());
    EXPECT_TRUE(control.Barrier(kTimeout).ok());  // rank 0 answers until all have asked
  });
}

TEST_P(ControlConformance, RankZeroSeesWhatIsPublished) {
  GetParam().run(3, [](Control& control) {
    constexpr auto kSteps = Control::Board::kSteps, kSaves = Control::Board::kSaves;
    EXPECT_EQ(control.PublishedBy(kSaves, 0), "");
    ASSERT_TRUE(control.Barrier(kTimeout).ok());
    const auto text = [](uint32_t rank, size_t bytes) { return std::string(bytes, static_cast<char>('a' + rank)); };
    for (const size_t bytes : {size_t{7}, Control::kMostPublished, size_t{0}, size_t{13}}) {
      EXPECT_TRUE(control.Publish(kSaves, text(control.rank(), bytes)));
      EXPECT_TRUE(control.Publish(kSteps, text(control.rank() + 9, bytes)));
      // What was sent before an agreement has come before it.
      ASSERT_TRUE(control.AllGatherBytes("published", kTimeout).ok());
      for (uint32_t rank = 0; control.rank() == 0 && rank < 3; ++rank) {
        EXPECT_EQ(control.PublishedBy(kSaves, rank), text(rank, bytes)) << rank;
        EXPECT_EQ(control.PublishedBy(kSteps, rank), text(rank + 9, bytes)) << rank;
      }
      ASSERT_TRUE(control.Barrier(kTimeout).ok());
    }
  });
}

TEST_P(ControlConformance, BarriersWaitForAll) {
  std::atomic<int> come = 0;
  const bool shares_memory = GetParam().name != "processes";
  GetParam().run(3, [&](Control& control) {
    for (int round = 1; round <= 3; ++round) {
      ++come;
      ASSERT_TRUE(control.Barrier(kTimeout).ok());
      if (shares_memory) EXPECT_GE(come, 3 * round);
    }
    EXPECT_TRUE(control.Poll().ok());
  });
}

// A thread of each rank meets the others' while the ranks meet more often, less often, or not at all.
TEST_P(ControlConformance, AThreadBesideTheStepsHasAgreementsOfItsOwn) {
  for (const int steps : {0, 3, 200}) {
    GetParam().run(3, [&](Control& control) {
      std::thread beside([&] {
        for (int round = 0; round < 20; ++round) {
          const auto text = [&](uint32_t rank) { return std::string(rank * 10'000, static_cast<char>('a' + round)); };
          const auto all = control.beside().AllGatherBytes(text(control.rank()), kTimeout);
          ASSERT_TRUE(all.ok()) << all.status();
          for (uint32_t rank = 0; rank < 3; ++rank) EXPECT_TRUE((*all)[rank] == text(rank)) << rank;
          ASSERT_TRUE(control.beside().Barrier(kTimeout).ok());
        }
      });
      for (int step = 0; step < steps; ++step) {
        const auto all = control.AllGatherBytes(absl::StrCat(step), kTimeout);
        ASSERT_TRUE(all.ok()) << all.status();
        EXPECT_EQ(*all, std::vector<std::string>(3, absl::StrCat(step)));
      }
      beside.join();
    });
  }
}

TEST_P(ControlConformance, AWaitBesideTheStepsEndsAndNamesWhoIsLate) {
  GetParam().run(3, [&](Control& control) {
    if (control.rank() == 1) {
      while (control.Poll().ok()) absl::SleepFor(absl::Milliseconds(1));
      return;
    }
    const absl::Status status = control.beside().Barrier(absl::Milliseconds(50));
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 did not arrive"));
    control.Abort(status);
  });
}

// Rank 2 computes while its thread beside the steps waits for the others, who wait for rank 2.
TEST_P(ControlConformance, AWaitOfAStepIsNotBlamedOnThreadsBesideSteps) {
  GetParam().run(3, [&](Control& control) {
    std::thread beside;
    if (control.rank() == 2) {
      beside = std::thread([&] { EXPECT_FALSE(control.beside().Barrier(kTimeout).ok()); });
      while (control.Poll().ok()) absl::SleepFor(absl::Milliseconds(1));
    } else {
      absl::SleepFor(absl::Milliseconds(30));  // the other's wait is noted after 10 ms
      const absl::Status status = control.Barrier(absl::Milliseconds(100));
      EXPECT_THAT(std::string(status.message()), HasSubstr("rank 2 did not arrive"));
      control.Abort(status);
    }
    if (beside.joinable()) beside.join();
  });
}

TEST_P(ControlConformance, ABarrierEndsAndNamesWhoIsLate) {
  GetParam().run(3, [&](Control& control) {
    if (control.rank() == 1) {
      while (control.Poll().ok()) absl::SleepFor(absl::Milliseconds(1));
      return;
    }
    const absl::Status status = control.Barrier(absl::Milliseconds(50));
    // The other one may have told of it first.
    if (status.code() == absl::StatusCode::kDeadlineExceeded) {
      EXPECT_THAT(std::string(status.message()), HasSubstr("barrier: rank 1 did not arrive within 50ms"));
    } else {
      EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 did not arrive"));
    }
    control.Abort(status);
  });
}

TEST_P(ControlConformance, TheFirstCauseEndsTheWaitsOfAll) {
  GetParam().run(3, [&](Control& control) {
    if (control.rank() == 1) {
      control.Abort(absl::InvalidArgumentError("input 'x' is missing"));
      control.Abort(absl::InvalidArgumentError("a later cause"));
      return;
    }
    const absl::Time begin = absl::Now();
    EXPECT_THAT(control.Barrier(kTimeout).ToString(), HasSubstr("rank 1: input 'x' is missing"));
    EXPECT_THAT(control.Poll().ToString(), HasSubstr("rank 1: input 'x' is missing"));
    EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  });
}

// Runs steps until all are told to stop, and checks that all have done as many.
void RunUntilStopped(Control& control, const std::function<void(uint64_t step)>& work) {
  uint64_t done = 0;
  while (true) {
    const absl::StatusOr<bool> goes_on = control.BeginStep(done, kTimeout);
    ASSERT_TRUE(goes_on.ok()) << goes_on.status();
    if (!*goes_on) break;
    work(done++);
  }
  EXPECT_EQ(control.stop_signal(), 15);
  const auto all = control.AllGatherBytes(absl::StrCat(done), kTimeout);
  ASSERT_TRUE(all.ok()) << all.status();
  for (const std::string& other : *all) EXPECT_EQ(other, absl::StrCat(done));
}

TEST_P(ControlConformance, RanksThatDoNotWaitForEachOtherStopAfterTheSameStep) {
  for (const uint32_t asks : {0u, 2u}) {
    GetParam().run(3, [&](Control& control) {
      RunUntilStopped(control, [&](uint64_t step) {
        absl::SleepFor(absl::Microseconds(control.rank() == 1 ? 150 : 100));
        if (control.rank() == asks && step == 20) control.RequestStop(15);
      });
    });
  }
}

TEST_P(ControlConformance, RanksInLockstepStopWhoeverAsks) {
  GetParam().run(3, [](Control& control) {
    RunUntilStopped(control, [&](uint64_t step) {
      if (step >= 5) control.RequestStop(15);  // all of them, and again
      ASSERT_TRUE(control.Barrier(kTimeout).ok());
      EXPECT_LT(step, 1000u);
    });
  });
}

TEST_P(ControlConformance, AStopBeforeTheFirstStepIsOneOfNoSteps) {
  GetParam().run(2, [](Control& control) {
    control.RequestStop(15);
    ASSERT_TRUE(control.Barrier(kTimeout).ok());
    RunUntilStopped(control, [](uint64_t) { ADD_FAILURE() << "it was asked for before anybody had begun"; });
  });
}

INSTANTIATE_TEST_SUITE_P(Media, ControlConformance, ::testing::ValuesIn(Media()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sgd::comm
