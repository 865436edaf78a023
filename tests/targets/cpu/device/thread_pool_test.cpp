// Every thread runs once per call, and the division of work covers everything once.
#include "targets/cpu/device/thread_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace sgd::cpu {
namespace {

TEST(ThreadPool, EachActiveThreadRunsOnce) {
  for (uint32_t threads : {1u, 2u, 4u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    std::vector<int> runs(threads, 0);
    int expected = 0;
    for (int round = 0; round < 300; ++round) {
      for (uint32_t active = 1; active <= threads; ++active) {
        pool.Run(active, [&](uint32_t thread) { ++runs[thread]; });
      }
      ++expected;
    }
    for (uint32_t thread = 0; thread < threads; ++thread) {
      EXPECT_EQ(runs[thread], expected * static_cast<int>(threads - thread)) << "of " << threads;
    }
  }
}

TEST(ThreadPool, EndsWithoutWork) { ThreadPool pool(3); }

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
