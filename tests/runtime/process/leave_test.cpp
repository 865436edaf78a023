// Checks that a process leaves with exit code 1 and the first cause, also if its leave action fails.
#include "runtime/process/leave.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <new>
#include <system_error>
#include <thread>

#include "absl/status/status.h"

namespace sgd::process {
namespace {

// The alarm ends a process that waits for itself.
[[noreturn]] void LeaveFromThread(const std::function<void(const absl::Status&)>& action,
                                  const std::function<void()>& body) {
  alarm(10);
  LeaveWhenOutOfMemory();
  const LeaveAction leave(action);
  std::thread(body).join();
  _exit(3);
}

const auto kThrows = [](const absl::Status&) { throw std::bad_alloc(); };
const auto kReturns = [](const absl::Status&) {};

TEST(Leave, TheActionMayThrow) {
  EXPECT_EXIT(LeaveFromThread(kThrows, [] { LeaveAtOnce(absl::CancelledError("first cause")); }),
              testing::ExitedWithCode(1), "^sgdrun: first cause\n$");
}

TEST(Leave, TheActionMayThrowAfterAnUncaughtException) {
  EXPECT_EXIT(LeaveFromThread(kThrows, [] { throw std::bad_alloc(); }), testing::ExitedWithCode(1),
              "^sgdrun: not enough memory for this run; .*\n$");
}

TEST(Leave, TheActionMayLeaveItself) {
  const auto leaves = [](const absl::Status&) { LeaveAtOnce(absl::InternalError("second cause")); };
  EXPECT_EXIT(LeaveFromThread(leaves, [] { LeaveAtOnce(absl::CancelledError("first cause")); }),
              testing::ExitedWithCode(1), "^sgdrun: ");
}

TEST(Leave, AReachedLimitIsNoAbort) {
  const auto body = [] { throw std::system_error(EAGAIN, std::generic_category(), "a library's thread"); };
  EXPECT_EXIT(LeaveFromThread(kReturns, body), testing::ExitedWithCode(1), "^sgdrun: a library's thread: .*\n$");
}

TEST(Leave, OthersWaitForTheFirst) {
  const auto slow = [](const absl::Status& cause) {
    std::thread([] { LeaveAtOnce(absl::InternalError("second cause")); }).detach();
    usleep(20'000);
    PrintAndExit(cause);
  };
  EXPECT_EXIT(LeaveFromThread(slow, [] { LeaveAtOnce(absl::CancelledError("first cause")); }),
              testing::ExitedWithCode(1), "^sgdrun: first cause\n$");
}

}  // namespace
}  // namespace sgd::process
