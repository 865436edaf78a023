// Collectives that are in flight while their ranks do something else: several at once, with and
// without a thread, and every way in which one can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "absl/time/clock.h"
#include "rank_threads.h"
#include "runtime/comm/one_host/collective_thread.h"

namespace sgd::comm {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr uint64_t kLarge = 20000;  // elements: beyond what is staged

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// In place.
CollectiveSpec SumAt(const std::vector<AxisRef>& axes, uint64_t first, uint64_t count, const char* location) {
  CollectiveSpec spec;
  spec.axes = axes;
  spec.location = location;
  CollectiveOperand operand;
  operand.source_offset = operand.target_offset = first * sizeof(float);
  operand.count = count;
  spec.operands = {operand};
  return spec;
}

class Overlap : public testing::TestWithParam<bool> {
 protected:
  static bool HasThread() { return GetParam(); }
  static void Prepare(SharedMemoryCommunicator& communicator) {
    if (HasThread()) ASSERT_TRUE(communicator.StartThread(/*has_own_core=*/false).ok());
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, Overlap, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "Thread" : "NoThread"); });

// Sums over different groups and of different sizes are started, others executed in between, and
// waited for in another order than they were started in; ranks are slow now and then.
TEST_P(Overlap, KeepsManyApart) {
  RunAsThreads(4, 1 << 20, [](SharedMemoryCommunicator& communicator) {
    Prepare(communicator);
    const Mesh mesh{{2, 2}};
    const std::vector<std::vector<AxisRef>> groups = {{{0, 1, 2}}, {{1, 1, 2}}, {{0, 1, 2}, {1, 1, 2}}, {}};
    float* window = reinterpret_cast<float*>(communicator.window());
    struct Sum {
      CollectiveHandle handle;
      size_t group;
      uint64_t first, count;
    };
    std::vector<Sum> sums;
    uint64_t first = 0;
    for (uint64_t count : {uint64_t{5}, kLarge, uint64_t{0}, uint64_t{300}, kLarge + 1}) {
      for (size_t group = 0; group < groups.size(); ++group) {
        auto handle = communicator.Prepare(mesh, SumAt(groups[group], first, count, "a sum"));
        ASSERT_TRUE(handle.ok()) << handle.status();
        sums.push_back({*handle, group, first, count});
        first += count;
      }
    }
    std::mt19937 shared(3), own(communicator.control().rank());
    for (int step = 0; step < 20; ++step) {
      for (uint64_t i = 0; i < first; ++i) window[i] = static_cast<float>(communicator.control().rank() + i % 7);
      std::shuffle(sums.begin(), sums.end(), shared);
      const size_t started = shared() % sums.size();
      for (size_t i = 0; i < sums.size(); ++i) {
        absl::Status status =
            i < started ? communicator.Start(sums[i].handle, kTimeout) : communicator.Execute(sums[i].handle, kTimeout);
        ASSERT_TRUE(status.ok()) << status;
        if (own() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
      }
      for (size_t i = started; i-- > 0;) ASSERT_TRUE(communicator.Wait(sums[i].handle, kTimeout).ok());
      for (const Sum& sum : sums) {
        const Group group = *GroupOf(mesh, groups[sum.group], communicator.control().rank());
        for (uint64_t i = sum.first; i < sum.first + sum.count; ++i) {
          float expected = 0;
          for (uint32_t member : group.members) expected += static_cast<float>(member + i % 7);
          ASSERT_EQ(window[i], expected) << "step " << step << " element " << i;
        }
      }
      // The next values may overwrite what peers read in this step only when all have read it.
      ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
    }
  });
}

// With a thread a collective completes while its rank does not even look.
TEST(OverlapOnThread, ProceedsByItself) {
  std::atomic<bool> is_complete = false;
  RunAsThreads(2, 1 << 20, [&](SharedMemoryCommunicator& communicator) {
    ASSERT_TRUE(communicator.StartThread(/*has_own_core=*/false).ok());
    auto sum = communicator.Prepare(Mesh{{2}}, SumAt({{0, 1, 2}}, 0, kLarge, "a sum"));
    ASSERT_TRUE(sum.ok());
    ASSERT_TRUE(communicator.Start(*sum, kTimeout).ok());
    if (communicator.control().rank() == 0) {
      const absl::Time end = absl::Now() + kTimeout;
      while (!is_complete && absl::Now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(is_complete);
    }
    EXPECT_TRUE(communicator.Wait(*sum, kTimeout).ok());
    is_complete = true;
  });
}

// Without one, a rank that has started keeps nobody from going on until it waits: the late one is
// not waited for twice.
TEST_P(Overlap, StartWaitsForNobody) {
  std::atomic<bool> has_started = false;
  RunAsThreads(2, 1 << 20, [&](SharedMemoryCommunicator& communicator) {
    Prepare(communicator);
    auto sum = communicator.Prepare(Mesh{{2}}, SumAt({{0, 1, 2}}, 0, kLarge, "a sum"));
    ASSERT_TRUE(sum.ok());
    while (communicator.control().rank() == 1 && !has_started)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(communicator.Start(*sum, kTimeout).ok());
    has_started = true;
    EXPECT_TRUE(communicator.Wait(*sum, kTimeout).ok());
  });
}

TEST_P(Overlap, TheDeadlineNamesWhoIsMissingAndWhere) {
  std::atomic<int> gave_up = 0;
  RunAsThreads(3, 1 << 20, [&](SharedMemoryCommunicator& communicator) {
    Prepare(communicator);
    auto sum = communicator.Prepare(Mesh{{3}}, SumAt({{0, 1, 3}}, 0, kLarge, "train: mlp.py:31:8"));
    ASSERT_TRUE(sum.ok());
    if (communicator.control().rank() != 2) {
      ASSERT_TRUE(communicator.Start(*sum, absl::Milliseconds(50)).ok());
      const absl::Status status = communicator.Wait(*sum, absl::Milliseconds(50));
      EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
      EXPECT_EQ(Message(status), "all_reduce #0 (train: mlp.py:31:8): rank 2 did not arrive within 50ms");
      ++gave_up;
    }
    while (gave_up < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
}

TEST_P(Overlap, AnAbortEndsIt) {
  RunAsThreads(2, 1 << 20, [&](SharedMemoryCommunicator& communicator) {
    Prepare(communicator);
    auto sum = communicator.Prepare(Mesh{{2}}, SumAt({{0, 1, 2}}, 0, kLarge, "a sum"));
    ASSERT_TRUE(sum.ok());
    if (communicator.control().rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return communicator.control().Abort(absl::InvalidArgumentError("input 'x' is missing"));
    }
    ASSERT_TRUE(communicator.Start(*sum, kTimeout).ok());
    const absl::Status status = communicator.Wait(*sum, kTimeout);
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
    EXPECT_THAT(Message(status), HasSubstr("rank 1: input 'x' is missing"));
  });
}

// Also when this rank has gone on to another collective meanwhile.
TEST_P(Overlap, NamesARankThatStartsSomethingElse) {
  RunAsThreads(2, 1 << 20, [&](SharedMemoryCommunicator& communicator) {
    Prepare(communicator);
    std::vector<CollectiveHandle> sums;
    for (const char* location : {"a.py:1", "b.py:2"}) {
      sums.push_back(*communicator.Prepare(Mesh{{2}}, SumAt({{0, 1, 2}}, sums.size() * kLarge, kLarge, location)));
    }
    absl::Status status = communicator.Start(sums[communicator.control().rank()], kTimeout);
    if (status.ok()) status = communicator.Start(sums[1 - communicator.control().rank()], kTimeout);
    if (status.ok()) status = communicator.Wait(sums[communicator.control().rank()], kTimeout);
    ASSERT_FALSE(status.ok());
    communicator.control().Abort(status);
    EXPECT_THAT(Message(status), HasSubstr("their programs differ"));
  });
}

TEST_P(Overlap, LeavingEndsTheJob) {
  RunAsThreads(2, 1 << 20, [&](SharedMemoryCommunicator& communicator) {
    Prepare(communicator);
    auto sum = communicator.Prepare(Mesh{{2}}, SumAt({{0, 1, 2}}, 0, kLarge, "a sum"));
    ASSERT_TRUE(sum.ok());
    if (communicator.control().rank() == 0) {
      EXPECT_TRUE(communicator.Start(*sum, kTimeout).ok());
    } else {
      // The second wait is for the peer's part of the sum, which never comes.
      const absl::Status status = communicator.Execute(*sum, kTimeout);
      if (!HasThread()) {
        EXPECT_FALSE(status.ok());
      }
    }
  });
}

TEST_P(Overlap, RefusesWhatIsOutOfTurn) {
  RunAsThreads(1, 4096, [&](SharedMemoryCommunicator& communicator) {
    Prepare(communicator);
    auto sum = communicator.Prepare(Mesh{{1}}, SumAt({}, 0, 8, "a.py:7"));
    ASSERT_TRUE(sum.ok());
    EXPECT_EQ(Message(communicator.Wait(*sum, kTimeout)), "all_reduce #0 (a.py:7) was not started");
    EXPECT_THAT(Message(communicator.Start(CollectiveHandle{3}, kTimeout)), HasSubstr("#3 was not prepared"));
    EXPECT_THAT(Message(communicator.Wait(CollectiveHandle{3}, kTimeout)), HasSubstr("#3 was not prepared"));
    ASSERT_TRUE(communicator.Start(*sum, kTimeout).ok());
    EXPECT_EQ(Message(communicator.Start(*sum, kTimeout)), "all_reduce #0 (a.py:7) is in flight already");
    EXPECT_EQ(Message(communicator.control().Barrier(kTimeout)), "barrier: a collective is in flight");
    EXPECT_THAT(Message(communicator.control().AllGatherBytes("x", kTimeout).status()),
                HasSubstr("a collective is in flight"));
    EXPECT_TRUE(communicator.Wait(*sum, kTimeout).ok());
    EXPECT_TRUE(communicator.control().Barrier(kTimeout).ok());
  });
}

TEST(CollectiveThread, RunsInOrderAndWaitsWhenFull) {
  std::vector<uint32_t> ran;
  auto started = CollectiveThread::Start(
      [&](uint32_t index, absl::Duration) {
        ran.push_back(index);
        return absl::OkStatus();
      },
      /*has_own_core=*/true);
  ASSERT_TRUE(started.ok()) << started.status();
  CollectiveThread& thread = **started;
  uint32_t ticket = 0;
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < 10 * CollectiveThread::kCapacity; ++i) {
    ticket = thread.Enqueue(i, kTimeout);
    expected.push_back(i);
  }
  ASSERT_TRUE(thread.Wait(ticket).ok());
  EXPECT_EQ(ran, expected);
}

TEST(CollectiveThread, RunsNothingAfterAnError) {
  std::atomic<int> ran = 0;
  auto started = CollectiveThread::Start(
      [&](uint32_t index, absl::Duration) {
        ++ran;
        return index == 1 ? absl::InternalError("the second") : absl::OkStatus();
      },
      /*has_own_core=*/false);
  ASSERT_TRUE(started.ok()) << started.status();
  CollectiveThread& thread = **started;
  const uint32_t first = thread.Enqueue(0, kTimeout);
  const uint32_t second = thread.Enqueue(1, kTimeout);
  const uint32_t third = thread.Enqueue(2, kTimeout);
  EXPECT_EQ(Message(thread.Wait(third)), "the second");
  EXPECT_EQ(Message(thread.Wait(second)), "the second");
  EXPECT_TRUE(thread.Wait(first).ok());
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace sgd::comm
