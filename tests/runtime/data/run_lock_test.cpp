// One run at a time holds a lock, its name is told to others, and a lock that was removed in between counts for
// nothing.
#include "runtime/data/run_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(RunLock, NamesItsHolder) {
  TemporaryFolder folder;
  {
    const auto held = RunLock::Take(folder / ".lock", "saved");
    ASSERT_TRUE(held.ok()) << held.status();
    const auto second = RunLock::Take(folder / ".lock", "saved");
    EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(second.status().message()),
                AllOf(StartsWith("saved: is in use by another run (process "), HasSubstr(absl::StrCat(getpid())),
                      HasSubstr(" on host "), HasSubstr("wait for its end or name another place")));
  }
  EXPECT_EQ(folder.files(), 0u);
  EXPECT_TRUE(RunLock::Take(folder / ".lock", "saved").ok());
}

TEST(RunLock, LastsAsLongAsAForkedProcess) {
  TemporaryFolder folder;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  auto held = std::make_optional(RunLock::Take(folder / ".lock", "saved"));
  ASSERT_TRUE(held->ok());
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[1]);
    char byte;
    _exit(read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(pipe_ends[0]);
  // As if the parent were killed: its descriptor is closed, its file stays.
  const std::string text = ReadText(folder / ".lock");
  ASSERT_EQ(link((folder / ".lock").c_str(), (folder / "kept").c_str()), 0);
  held.reset();
  ASSERT_EQ(rename((folder / "kept").c_str(), (folder / ".lock").c_str()), 0);
  EXPECT_EQ(RunLock::Take(folder / ".lock", "saved").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReadText(folder / ".lock"), text);
  close(pipe_ends[1]);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(RunLock::Take(folder / ".lock", "saved").ok());
}

TEST(RunLock, IsHeldByOneAtATimeThoughItsFileComesAndGoes) {
  TemporaryFolder folder;
  std::atomic<int> holders = 0, taken = 0;
  const auto work = [&] {
    for (int round = 0; round < 300; ++round) {
      const auto lock = RunLock::Take(folder / ".lock", "saved");
      if (!lock.ok()) continue;
      EXPECT_EQ(holders.fetch_add(1), 0);
      ++taken;
      std::this_thread::yield();
      holders.fetch_sub(1);
    }
  };
  std::thread first(work), second(work), third(work);
  first.join();
  second.join();
  third.join();
  EXPECT_GT(taken, 0);
}

TEST(RunLock, SaysWhereItCannotBeMade) {
  EXPECT_THAT(std::string(RunLock::Take("/none/lock", "saved").status().message()),
              HasSubstr("/none/lock: cannot create: No such file or directory"));
}

}  // namespace
}  // namespace sgd::data
