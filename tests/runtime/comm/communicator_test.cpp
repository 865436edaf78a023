// Tests beyond values: counters, determinism, interleaved groups, and every way in
// which a wait can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "rank_threads.h"

namespace sgd::comm {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);

CollectiveSpec SumOf(const std::vector<AxisRef>& axes, uint64_t count, const char* location) {
  CollectiveSpec spec;
  spec.axes = axes;
  spec.location = location;
  CollectiveOperand operand;
  operand.count = count;
  spec.operands = {operand};  // in place at offset 0
  return spec;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(Communicator, WindowsAreAlignedAndZero) {
  RunAsThreads(2, 5000, [](Communicator& communicator) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(communicator.window()) % 4096, 0u);
    EXPECT_EQ(communicator.window_bytes(), 5000u);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(communicator.window()[i], std::byte{0});
  });
}

TEST(Communicator, CountsSentBytesByTheRingRule) {
  RunAsThreads(4, 1 << 20, [](Communicator& communicator) {
    const Mesh mesh{{4}};
    auto one = communicator.Prepare(mesh, SumOf({{0, 1, 4}}, 1, "a"));
    auto large = communicator.Prepare(mesh, SumOf({{0, 1, 4}}, 40000, "b"));
    auto alone = communicator.Prepare(mesh, SumOf({}, 40000, "c"));
    ASSERT_TRUE(one.ok() && large.ok() && alone.ok());
    EXPECT_TRUE(communicator.Execute(*one, kTimeout).ok());
    EXPECT_EQ(communicator.sent_bytes(), 6u);
    EXPECT_TRUE(communicator.Execute(*large, kTimeout).ok());
    EXPECT_TRUE(communicator.Execute(*alone, kTimeout).ok());
    EXPECT_EQ(communicator.sent_bytes(), 6u + 240000u);
  });
}

TEST(Communicator, GivesTheSameBitsOnEveryRankAndInEveryRun) {
  for (uint64_t count : {uint64_t{300}, uint64_t{20011}}) {
    std::vector<std::vector<float>> results(8);
    for (int run = 0; run < 2; ++run) {
      RunAsThreads(4, 1 << 20, [&](Communicator& communicator) {
        auto sum = communicator.Prepare(Mesh{{4}}, SumOf({{0, 1, 4}}, count, "a"));
        ASSERT_TRUE(sum.ok());
        std::mt19937 random(communicator.control().rank());
        float* values = reinterpret_cast<float*>(communicator.window());
        for (uint64_t i = 0; i < count; ++i) values[i] = static_cast<float>(random()) * 1e-3f;
        ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
        ASSERT_TRUE(communicator.Execute(*sum, kTimeout).ok());
        results[run * 4 + communicator.control().rank()].assign(values, values + count);
      });
    }
    for (int i = 1; i < 8; ++i) {
      EXPECT_EQ(std::memcmp(results[0].data(), results[i].data(), count * 4), 0);
    }
  }
}

// Large enough to go past the caches, at offsets that begin on no cache line.
TEST(Communicator, MovesLargeResults) {
  constexpr uint64_t kPart = (5 << 19) + 3, kWhole = 2 * kPart;  // elements; 10 MiB and 20 MiB
  RunAsThreads(2, (kPart + kWhole) * sizeof(float) + 64, [](Communicator& communicator) {
    CollectiveOperand operand;
    operand.outer = 1;
    operand.inner = kPart;
    operand.count = kWhole;
    operand.source_offset = 4;
    operand.target_offset = 4 * (kWhole + 2);
    CollectiveSpec spec;
    spec.kind = CollectiveKind::kReduceScatter;
    spec.axes = {{0, 1, 2}};
    spec.operands = {operand};
    auto scatter = communicator.Prepare(Mesh{{2}}, spec);
    spec.kind = CollectiveKind::kAllGather;
    std::swap(spec.operands[0].source_offset, spec.operands[0].target_offset);
    spec.operands[0].count = kPart;
    auto gather = communicator.Prepare(Mesh{{2}}, spec);
    ASSERT_TRUE(scatter.ok() && gather.ok()) << scatter.status() << gather.status();
    float* whole = reinterpret_cast<float*>(communicator.window()) + 1;
    const float* part = whole + kWhole + 1;
    for (uint64_t i = 0; i < kWhole; ++i) whole[i] = static_cast<float>(i % 1000 + communicator.control().rank());
    const auto sum_at = [](uint64_t i) { return static_cast<float>(2 * (i % 1000) + 1); };
    ASSERT_TRUE(communicator.Execute(*scatter, kTimeout).ok());
    for (uint64_t i = 0; i < kPart; ++i) ASSERT_EQ(part[i], sum_at(communicator.control().rank() * kPart + i)) << i;
    ASSERT_TRUE(communicator.Execute(*gather, kTimeout).ok());
    for (uint64_t i = 0; i < kWhole; ++i) ASSERT_EQ(whole[i], sum_at(i)) << i;
    EXPECT_EQ(whole[-1], 0);
    EXPECT_EQ(whole[kWhole], 0);
    EXPECT_EQ(part[kPart], 0);
  });
}

// Groups over different axes alternate without any wait between them, ranks being slow now and
// then.
TEST(Communicator, KeepsInterleavedGroupsApart) {
  RunAsThreads(8, 1 << 16, [](Communicator& communicator) {
    const Mesh mesh{{2, 2, 2}};
    const std::vector<std::vector<AxisRef>> groups = {
        {{0, 1, 2}}, {{1, 1, 2}}, {{2, 1, 2}}, {{0, 1, 2}, {2, 1, 2}}, {{1, 1, 2}, {2, 1, 2}}};
    std::vector<CollectiveHandle> small, large;
    for (const auto& axes : groups) {
      small.push_back(*communicator.Prepare(mesh, SumOf(axes, 5, "small")));
      large.push_back(*communicator.Prepare(mesh, SumOf(axes, 4000, "large")));
    }
    std::mt19937 shared(7), own(communicator.control().rank());
    int32_t* value = reinterpret_cast<int32_t*>(communicator.window());
    float* window = reinterpret_cast<float*>(value);
    for (int i = 0; i < 400; ++i) {
      const size_t which = shared() % groups.size();
      const bool is_small = shared() % 8 != 0;
      const uint64_t count = is_small ? 5 : 4000;
      const float step = static_cast<float>(i % 97);
      for (uint64_t k = 0; k < count; ++k) window[k] = communicator.control().rank() + step;
      const Group group = *GroupOf(mesh, groups[which], communicator.control().rank());
      float expected = 0;
      for (uint32_t member : group.members) expected += member + step;
      if (own() % 32 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      ASSERT_TRUE(communicator.Execute((is_small ? small : large)[which], kTimeout).ok());
      for (uint64_t k = 0; k < count; ++k) ASSERT_EQ(window[k], expected) << i;
    }
  });
}

TEST(Communicator, TheDeadlineNamesWhoIsMissingAndWhere) {
  std::atomic<bool> done = false;
  RunAsThreads(3, 4096, [&](Communicator& communicator) {
    auto sum = communicator.Prepare(Mesh{{3}}, SumOf({{0, 1, 3}}, 8, "train: mlp.py:31:8"));
    ASSERT_TRUE(sum.ok());
    if (communicator.control().rank() == 0) {
      const absl::Status status = communicator.Execute(*sum, absl::Milliseconds(50));
      EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
      EXPECT_EQ(Message(status), "all_reduce #0 (train: mlp.py:31:8): ranks 1, 2 did not arrive within 50ms");
      done = true;
    }
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
}

TEST(Communicator, NamesARankThatExecutesSomethingElse) {
  RunAsThreads(2, 4096, [&](Communicator& communicator) {
    const std::vector<AxisRef> axes = {{0, 1, 2}};
    auto first = communicator.Prepare(Mesh{{2}}, SumOf(axes, 8, "a.py:1"));
    auto second = communicator.Prepare(Mesh{{2}}, SumOf(axes, 8, "b.py:2"));
    ASSERT_TRUE(first.ok() && second.ok());
    const bool is_first = communicator.control().rank() == 0;
    const absl::Status status = communicator.Execute(is_first ? *first : *second, kTimeout);
    ASSERT_FALSE(status.ok());
    communicator.control().Abort(status);
    EXPECT_THAT(Message(status),
                AnyOf(HasSubstr("executes all_reduce #0 (a.py:1)"), HasSubstr("executes all_reduce #1 (b.py:2)")));
    EXPECT_THAT(Message(status), HasSubstr("their programs differ"));
  });
}

TEST(Communicator, NoticesThatOtherGroupsWereMeant) {
  RunAsThreads(4, 4096, [&](Communicator& communicator) {
    const Mesh mesh{{2, 2}};
    auto x = communicator.Prepare(mesh, SumOf({{0, 1, 2}}, 8, "x"));
    auto y = communicator.Prepare(mesh, SumOf({{1, 1, 2}}, 8, "y"));
    ASSERT_TRUE(x.ok() && y.ok());
    const absl::Status status = communicator.Execute(communicator.control().rank() == 3 ? *y : *x, absl::Seconds(20));
    if (status.ok()) return;  // ranks 0 and 2 agree with each other
    EXPECT_NE(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    communicator.control().Abort(status);
  });
}

TEST(Communicator, NoticesThatAPeerHasEnded) {
  RunAsThreads(2, 4096, [&](Communicator& communicator) {
    if (communicator.control().rank() == 1) return;  // the runner announces its end
    const absl::Status status = communicator.control().Barrier(kTimeout);
    EXPECT_EQ(Message(status), "barrier: rank 1 has already ended");
  });
}

TEST(Communicator, RefusesWhatWasNotPreparedOrFitsAnotherJob) {
  RunAsThreads(1, 4096, [&](Communicator& communicator) {
    EXPECT_THAT(Message(communicator.Execute(CollectiveHandle{3}, kTimeout)),
                HasSubstr("collective #3 was not prepared"));
    EXPECT_THAT(Message(communicator.Prepare(Mesh{{2}}, SumOf({}, 1, "a")).status()),
                HasSubstr("a mesh of 2 ranks in a job of 1"));
    EXPECT_THAT(Message(communicator.Prepare(Mesh{{1}}, SumOf({}, 2000, "a.py:7")).status()),
                HasSubstr("all_reduce (a.py:7): 2000 elements at offset 0 do not fit"));
  });
}

TEST(Communicator, RefusesARankThatJoinsTwice) {
  auto segment = SharedMemorySegment::Create(1, 0);
  ASSERT_TRUE(segment.ok());
  EXPECT_TRUE(SharedMemoryCommunicator::Connect(*segment, 0, kTimeout).ok());
  EXPECT_THAT(Message(SharedMemoryCommunicator::Connect(*segment, 0, kTimeout).status()),
              HasSubstr("rank 0 was started twice"));
  EXPECT_THAT(Message(SharedMemoryCommunicator::Connect(*segment, 1, kTimeout).status()),
              HasSubstr("rank 1 of a job of 1 ranks"));
}

TEST(Segment, RefusesTooMuchAndWhatIsNone) {
  EXPECT_THAT(Message(SharedMemorySegment::Create(4, uint64_t{1} << 60).status()),
              HasSubstr("ranks is more than this host's memory"));
  EXPECT_THAT(Message(SharedMemorySegment::Create(5000, 0).status()),
              HasSubstr("5000 ranks on one host; supported are 1 to 1024"));
  UniqueFd pipes[2];
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pipes[0] = UniqueFd(ends[0]);
  pipes[1] = UniqueFd(ends[1]);
  EXPECT_THAT(Message(SharedMemorySegment::Attach(std::move(pipes[0])).status()), HasSubstr("another version"));
}

// Huge pages or not, all of one window is there before the first step, zeroed, and nothing of the other.
TEST(Segment, PopulatesLargeWindowsWhole) {
  constexpr uint64_t kBytes = (uint64_t{5} << 20) + 100, kPage = 4096, kPages = kBytes / kPage + 1;
  auto segment = SharedMemorySegment::Create(2, kBytes);
  ASSERT_TRUE(segment.ok()) << segment.status();
  ASSERT_TRUE((*segment)->PopulateWindow(1).ok());
  const auto resident = [&](uint32_t rank) {
    std::vector<unsigned char> pages(kPages);
    EXPECT_EQ(mincore((*segment)->window(rank), kPages * kPage, pages.data()), 0);
    return std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
  };
  EXPECT_EQ(resident(0), 0);
  EXPECT_EQ(resident(1), static_cast<int64_t>(kPages));
  const std::byte* window = (*segment)->window(1);
  EXPECT_EQ(std::count(window, window + kBytes, std::byte{0}), static_cast<int64_t>(kBytes));
}

}  // namespace
}  // namespace sgd::comm
