// Threads share one mapping of the segment, so that the thread sanitizer sees their accesses;
// processes inherit it.
#include "rank_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace sgd::comm {
namespace {

constexpr absl::Duration kJoinTimeout = absl::Seconds(60);

void RunRank(const std::shared_ptr<SharedMemorySegment>& segment, uint32_t rank, const RankFunction& function) {
  auto communicator = SharedMemoryCommunicator::Connect(segment, rank, kJoinTimeout);
  ASSERT_TRUE(communicator.ok()) << communicator.status();
  function(**communicator);
  (*communicator)->control().Finish();
}

}  // namespace

void RunAsThreads(uint32_t ranks, uint64_t window_bytes, const RankFunction& function) {
  auto segment = SharedMemorySegment::Create(ranks, window_bytes);
  ASSERT_TRUE(segment.ok()) << segment.status();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { RunRank(*segment, rank, function); });
  }
  for (std::thread& thread : threads) thread.join();
}

void RunAsProcesses(uint32_t ranks, uint64_t window_bytes, const RankFunction& function) {
  auto segment = SharedMemorySegment::Create(ranks, window_bytes);
  ASSERT_TRUE(segment.ok()) << segment.status();
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RunRank(*segment, rank, function);
      fflush(nullptr);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    int status = 0;
    waitpid(children[rank], &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "rank " << rank << ": " << status;
  }
}

bool CanRunAsProcesses() {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return false;
#endif
#endif
  return true;
}

}  // namespace sgd::comm
