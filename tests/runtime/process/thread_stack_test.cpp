// Threads that compute, read and wait where no signal reaches them tell where they are, and go on.
#include "runtime/process/thread_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "runtime/process/rank_place.h"
#include "runtime/thread/spawn_thread.h"
#include "runtime/thread/thread_state.h"

namespace sgd::process {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::Duration kLong = absl::Seconds(10);

std::atomic<bool> ends = false;
std::atomic<pid_t> thread_id = 0;

[[gnu::noinline]] void ComputesWithoutEnd() {
  while (!ends.load()) {
  }
}

[[gnu::noinline]] void ReadsFrom(int file) {
  char byte = 0;
  EXPECT_EQ(read(file, &byte, 1), 1);
}

// Its caller waits in state D, where only SIGKILL arrives, until the child has ended.
[[gnu::noinline]] void WaitsForAChild(int file) {
  const pid_t child = vfork();
  char byte = 0;
  if (child == 0) _exit(read(file, &byte, 1) == 1 ? 0 : 1);
  waitpid(child, nullptr, 0);
}

template <typename Body>
std::thread Started(Body body) {
  AnswerStackRequests();
  ends.store(false);
  thread_id.store(0);
  std::thread thread = *SpawnThread("a test", [body] {
    thread_id.store(gettid());
    body();
  });
  while (thread_id.load() == 0) absl::SleepFor(absl::Milliseconds(1));
  return thread;
}

// Once it is in the kernel, as a thread that has begun to wait is.
void WaitUntilInState(char wanted, std::string_view call) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto state = ReadThreadState(getpid(), thread_id.load());
    if (state && state->state == wanted && state->call.starts_with(call)) return;
    absl::SleepFor(absl::Milliseconds(10));
  }
  ADD_FAILURE() << "the thread is in no state " << wanted;
}

std::string TextOf(const std::vector<uintptr_t>& stack) {
  std::string text;
  for (const uintptr_t address : stack) text += FrameText(address, !text.empty(), "") + "\n";
  return text;
}

TEST(ThreadStack, NamesTheFunctionsOfAThreadThatComputes) {
  std::thread thread = Started(ComputesWithoutEnd);
  const std::string stack = TextOf(StackOf(thread_id.load(), kLong));
  EXPECT_THAT(stack, HasSubstr("ComputesWithoutEnd"));
  EXPECT_THAT(stack, HasSubstr("_Function_handler")) << "callers are missing";
  EXPECT_THAT(stack, Not(HasSubstr("Answer("))) << "the handler is no part of the thread's work";
  const std::string place = PlaceText(
      {.instruction = "program 'main' instruction 4 (launch) at a.py:1:2", .location = "a.py:1:2"}, thread_id.load());
  EXPECT_THAT(place, StartsWith("program 'main' instruction 4 (launch) at a.py:1:2; thread " +
                                std::to_string(thread_id.load()) + " (state R): "));
  EXPECT_THAT(place, HasSubstr("ComputesWithoutEnd"));
  EXPECT_LE(place.size(), 1000);
  ends.store(true);
  thread.join();
  EXPECT_TRUE(StackOf(thread_id.load(), kLong).empty());
}

TEST(ThreadStack, InterruptsNoRead) {
  int file[2];
  ASSERT_EQ(pipe(file), 0);
  std::thread thread = Started([&] { ReadsFrom(file[0]); });
  WaitUntilInState('S', "read of");
  EXPECT_THAT(TextOf(StackOf(thread_id.load(), kLong)), HasSubstr("ReadsFrom"));
  // The thread of the rank's steps is another one here, which is idle: those that are not are named beside it.
  EXPECT_THAT(PlaceText({}, getpid()), HasSubstr("read of pipe:["));
  EXPECT_EQ(write(file[1], "x", 1), 1);
  thread.join();
}

TEST(ThreadStack, SaysWhereAThreadIsThatNoSignalReaches) {
  int file[2];
  ASSERT_EQ(pipe(file), 0);
  std::thread thread = Started([&] { WaitsForAChild(file[0]); });
  WaitUntilInState('D', "");
  EXPECT_TRUE(StackOf(thread_id.load(), absl::Milliseconds(50)).empty());
  EXPECT_THAT(PlaceText({}, thread_id.load()), HasSubstr("(state D"));
  EXPECT_EQ(write(file[1], "x", 1), 1);
  thread.join();
  // The answer that came too late was to nobody, and the next thread is asked as the first one.
  thread = Started(ComputesWithoutEnd);
  EXPECT_THAT(TextOf(StackOf(thread_id.load(), kLong)), HasSubstr("ComputesWithoutEnd"));
  ends.store(true);
  thread.join();
}

}  // namespace
}  // namespace sgd::process
