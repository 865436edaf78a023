// Checks that a thread runs with signals blocked, and that a reached limit is a status.
#include "runtime/thread/spawn_thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace sgd {
namespace {

bool Blocks(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST(SpawnThread, RunsTheBodyWithSignalsButFaultsBlocked) {
  bool blocks_request = false, blocks_fault = true;
  absl::StatusOr<std::thread> thread = SpawnThread("a test", [&] {
    blocks_request = Blocks(SIGTERM);
    blocks_fault = Blocks(SIGBUS);
  });
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->join();
  EXPECT_TRUE(blocks_request);
  EXPECT_FALSE(blocks_fault);
  EXPECT_FALSE(Blocks(SIGTERM));
}

// Runs in a process of its own: leaves no address space for a stack.
void TryWithoutMemory() {
  const rlimit limit = {1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &limit);
  absl::StatusOr<std::thread> thread = SpawnThread("a test", [] {});
  std::fprintf(stderr, "%s%s\n", std::string(thread.status().message()).c_str(), Blocks(SIGTERM) ? "; blocks" : "");
  _exit(thread.ok() ? 0 : 1);
}

TEST(SpawnThread, NamesThePurposeAndTheLimits) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a forked process would reuse stacks of ended threads
  EXPECT_EXIT(TryWithoutMemory(), testing::ExitedWithCode(1),
              "^cannot start a thread for a test: Resource temporarily unavailable; expected room .*ulimit -u.*ulimit "
              "-v.* threads\n$");
}

}  // namespace
}  // namespace sgd
