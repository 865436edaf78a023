// Threads and processes that run, wait, are stopped, or wait where no signal reaches them.
#include "runtime/thread/thread_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "absl/time/clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The state of a thread once it is as `fits` says; the last one after ten seconds.
ThreadState StateOnce(pid_t process, pid_t thread, const std::function<bool(const ThreadState&)>& fits) {
  ThreadState last;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (const auto state = ReadThreadState(process, thread)) last = *state;
    if (fits(last)) break;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return last;
}

TEST(ThreadState, NamesTheFileThatAThreadReads) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::atomic<pid_t> id = 0;
  std::thread reader = *SpawnThread("a reader", [&] {
    id.store(gettid());
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
  });
  while (id.load() == 0) absl::SleepFor(absl::Milliseconds(1));
  const ThreadState state =
      StateOnce(getpid(), id.load(), [](const ThreadState& s) { return s.call.starts_with("read of"); });
  EXPECT_THAT(state.call, StartsWith("read of pipe:["));
  EXPECT_THAT(ThreadStateText(state), StartsWith("state S: read of pipe:["));
  EXPECT_FALSE(IsIdle(state));
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  reader.join();
  EXPECT_FALSE(ReadThreadState(getpid(), id.load()).has_value());
  close(ends[0]);
  close(ends[1]);
}

TEST(ThreadState, TellsIdleThreadsFromThoseThatRun) {
  std::atomic<pid_t> waiter_id = 0, runner_id = 0;
  std::atomic<bool> ends = false;
  std::mutex mutex;
  std::condition_variable wakes;
  std::thread waiter = *SpawnThread("a waiter", [&] {
    waiter_id.store(gettid());
    std::unique_lock lock(mutex);
    wakes.wait(lock, [&] { return ends.load(); });
  });
  std::thread runner = *SpawnThread("a runner", [&] {
    runner_id.store(gettid());
    while (!ends.load()) {
    }
  });
  while (waiter_id.load() == 0 || runner_id.load() == 0) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(IsIdle(StateOnce(getpid(), waiter_id.load(), IsIdle)));
  const ThreadState runs =
      StateOnce(getpid(), runner_id.load(), [](const ThreadState& s) { return s.state == 'R' && s.call.empty(); });
  EXPECT_EQ(ThreadStateText(runs), "state R");
  EXPECT_FALSE(IsIdle(runs));
  EXPECT_EQ(ThreadsOf(getpid()).front(), getpid());
  {
    const std::lock_guard lock(mutex);
    ends.store(true);
  }
  wakes.notify_one();
  waiter.join();
  runner.join();
}

TEST(ThreadState, SaysThatAProcessIsStopped) {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  kill(child, SIGSTOP);
  const ThreadState state = StateOnce(child, child, IsStopped);
  EXPECT_EQ(ThreadStateText(state), "stopped by a signal (state T)");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(ReadThreadState(child, child).has_value());
  EXPECT_TRUE(ThreadsOf(child).empty());
}

}  // namespace
}  // namespace sgd
