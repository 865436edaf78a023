// Every chunk runs once per call, and the division of work covers everything once.
#include "targets/cpu/device/threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sgd::cpu {
namespace {

TEST(ThreadPool, EachChunkRunsOnce) {
  for (uint32_t threads : {1u, 2u, 4u}) {
    const auto started = ThreadPool::Start(threads).value();
    ThreadPool& pool = *started;
    EXPECT_EQ(pool.size(), threads);
    for (int round = 0; round < 300; ++round) {
      for (uint32_t active = 1; active <= threads; ++active) {
        const uint32_t chunks = static_cast<uint32_t>(round) % 23;
        std::vector<int> runs(chunks, 0);
        pool.Run(active, chunks, [&](uint32_t chunk, uint32_t thread) {
          EXPECT_LT(thread, active);
          ++runs[chunk];
        });
        EXPECT_EQ(runs, std::vector<int>(chunks, 1)) << "on " << active << " of " << threads;
      }
    }
  }
}

TEST(ThreadPool, NoThreadRunsTwoChunksAtOnce) {
  constexpr uint32_t kThreads = 4;
  const auto started = ThreadPool::Start(kThreads).value();
  ThreadPool& pool = *started;
  std::atomic<bool> busy[kThreads] = {};
  for (int round = 0; round < 100; ++round) {
    pool.Run(kThreads, 64, [&](uint32_t, uint32_t thread) {
      EXPECT_FALSE(busy[thread].exchange(true));
      busy[thread].store(false);
    });
  }
}

// The first chunk of the second thread's share is held until all others are done, so others must
// have taken the rest of that share.
TEST(ThreadPool, ALateThreadsChunksAreTakenOver) {
  const auto started = ThreadPool::Start(2).value();
  ThreadPool& pool = *started;
  constexpr uint32_t kChunks = 64;
  std::atomic<uint32_t> others{0};
  pool.Run(2, kChunks, [&](uint32_t chunk, uint32_t) {
    if (chunk != kChunks / 2) {
      ++others;
    } else {
      while (others.load() != kChunks - 1) std::this_thread::yield();
    }
  });
  EXPECT_EQ(others.load(), kChunks - 1);
}

TEST(ThreadPool, ThreadsStayOnTheirCores) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  const std::vector<int> last_twice(2, cores.back());
  const auto started = ThreadPool::Start(2, last_twice).value();
  ThreadPool& pool = *started;
  std::atomic<int> core_of_worker{-1};
  pool.Run(2, 2, [&](uint32_t, uint32_t thread) {
    if (thread == 1) core_of_worker = sched_getcpu();
    while (thread == 0 && core_of_worker.load() < 0) std::this_thread::yield();
  });
  EXPECT_EQ(core_of_worker.load(), cores.back());
}

TEST(ThreadPool, RunsEachChunkOnceWhereCoresAreShared) {
  const auto started = ThreadPool::Start(4, {}, /*shares_cores=*/true).value();
  ThreadPool& pool = *started;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> runs(17);
    pool.Run(4, 17, [&](uint32_t chunk, uint32_t) { ++runs[chunk]; });
    for (const std::atomic<int>& n : runs) ASSERT_EQ(n.load(), 1);
  }
}

TEST(ThreadPool, EndsWithoutWork) { EXPECT_EQ(ThreadPool::Start(3).value()->size(), 3); }

TEST(PartOf, PartsCoverAll) {
  for (uint64_t count = 0; count < 20; ++count) {
    for (uint64_t parts = 1; parts < 8; ++parts) {
      uint64_t next = 0;
      for (uint64_t index = 0; index < parts; ++index) {
        const IndexRange part = PartOf(count, parts, index);
        EXPECT_EQ(part.begin, next);
        EXPECT_LE(part.end - part.begin, count / parts + 1);
        next = part.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace sgd::cpu
