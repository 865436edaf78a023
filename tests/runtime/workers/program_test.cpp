// Workers run two programs of an artifact in turn, and survive the death of one of them in a step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/workers/spawned_ranks.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/exec/two_programs.h"

namespace sgd::workers {
namespace {

using ::testing::HasSubstr;

class WorkerProgramTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    const std::string bytes = testing::TwoProgramsBytes(size_);
    std::ofstream(path_, std::ios::binary) << bytes;
    window_bytes_ = (*artifact::ArtifactFile::FromBytes(bytes, path_))->root().window_bytes();
    auto started = SpawnedRanks::Start(size_, {.command = {SGD_TEST_WORKER}, .threads = 1});
    ASSERT_TRUE(started.ok()) << started.status();
    ranks_ = *std::move(started);
  }
  std::unique_ptr<SpawnedJob> OpenPrepared() {
    auto job = ranks_->Open(window_bytes_);
    EXPECT_TRUE(job.ok()) << job.status();
    EXPECT_EQ((*job)->Run(absl::StrCat("prepare ", path_)), absl::OkStatus());
    return *std::move(job);
  }
  absl::Status RunStep(SpawnedJob& job, const std::string& program, uint64_t step) {
    return job.Run(absl::StrCat(program, " ", step, " ", folder_.path()));
  }
  std::vector<float> OutputOf(uint32_t rank, size_t count) {
    std::vector<float> values(count);
    std::ifstream file(folder_.File(absl::StrCat(rank)), std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(float)));
    EXPECT_TRUE(file.good());
    return values;
  }
  void ExpectOutputs(const std::vector<float>& expected) {
    for (uint32_t rank = 0; rank < size_; ++rank) EXPECT_EQ(OutputOf(rank, expected.size()), expected);
  }
  void ExpectBothRun(SpawnedJob& job, uint64_t steps) {
    for (uint64_t step = 0; step < steps; ++step) {
      ASSERT_EQ(RunStep(job, "main", step), absl::OkStatus());
      ExpectOutputs(testing::ExpectedMain(size_, step));
      ASSERT_EQ(RunStep(job, "sum", step), absl::OkStatus());
      ExpectOutputs(testing::ExpectedSum(size_, step));
    }
  }
  std::vector<pid_t> Pids() {
    std::vector<pid_t> pids;
    for (uint32_t rank = 0; rank < size_; ++rank) pids.push_back(ranks_->pid(rank));
    return pids;
  }

  const uint32_t size_ = GetParam();
  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.File("two.sgda");
  uint64_t window_bytes_ = 0;
  std::unique_ptr<SpawnedRanks> ranks_;
};

INSTANTIATE_TEST_SUITE_P(TwoToFour, WorkerProgramTest, ::testing::Values(2u, 3u, 4u));

TEST_P(WorkerProgramTest, TwoProgramsRunInTurn) {
  const std::vector<pid_t> pids = Pids();
  for (int jobs = 0; jobs < 2; ++jobs) ExpectBothRun(*OpenPrepared(), 3);
  EXPECT_EQ(Pids(), pids);
}

// Rank 1 stops in a step's first copy, while the others wait for it in the all-reduce behind.
TEST_P(WorkerProgramTest, AWorkerKilledInAStepIsReplaced) {
  std::vector<pid_t> pids = Pids();
  {
    const std::unique_ptr<SpawnedJob> job = OpenPrepared();
    ExpectBothRun(*job, 1);
    const std::string stopped = folder_.File("stopped");
    EXPECT_EQ(job->Run(absl::StrCat("stop ", stopped)), absl::OkStatus());
    absl::Time killed;
    std::thread killer([&] {
      while (!std::filesystem::exists(stopped)) absl::SleepFor(absl::Milliseconds(1));
      killed = absl::Now();
      kill(pids[1], SIGKILL);
    });
    const absl::Status status = RunStep(*job, "main", 1);
    const absl::Time heard = absl::Now();
    killer.join();
    RecordProperty("heard_after_microseconds", static_cast<int>(absl::ToInt64Microseconds(heard - killed)));
    EXPECT_LT(heard - killed, absl::Seconds(1));
    EXPECT_EQ(status, absl::UnavailableError(absl::StrCat("rank 1: killed by signal 9 (Killed), process ", pids[1])));
    for (uint32_t rank = 0; rank < size_; ++rank) {
      if (rank == 1) continue;
      EXPECT_THAT(std::string(job->outcomes()[rank].message()), HasSubstr("all_reduce"));
      EXPECT_THAT(std::string(job->outcomes()[rank].message()), HasSubstr("rank 1: killed by signal 9"));
    }
  }
  ExpectBothRun(*OpenPrepared(), 2);
  std::vector<pid_t> now = Pids();
  EXPECT_NE(now[1], pids[1]);
  now[1] = pids[1];
  EXPECT_EQ(now, pids);
}

}  // namespace
}  // namespace sgd::workers
