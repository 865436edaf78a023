// A program that has the runtime inside: ranks that are its threads run several programs over its own memory, keep
// their state between runs, and survive a rank that fails. Runs under the address and thread sanitizers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/launch/resident_ranks.h"
#include "runtime/train/session.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/data/tensor_files.h"
#include "tests/runtime/exec/two_programs.h"
#include "tests/tools/toy_artifact.h"

namespace sgd::train {
namespace {

using launch::RankContext;
using launch::ResidentJob;
using launch::ResidentRanks;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TwoProgramsRank;

constexpr absl::Duration kTimeout = absl::Seconds(60);

std::string Message(const absl::Status& status) { return std::string(status.message()); }

class EmbeddingTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  const uint32_t size_ = GetParam();
  const std::unique_ptr<artifact::ArtifactFile> file_ =
      *artifact::ArtifactFile::FromBytes(testing::TwoProgramsBytes(size_), "two.sgda");
  std::atomic<bool> fails_{false};
  const std::unique_ptr<ResidentRanks> resident_ = *ResidentRanks::Start(size_, {.threads = 1});
  std::vector<TwoProgramsRank> ranks_{size_};

  absl::Status Prepare(RankContext& context) {
    return ranks_[context.rank].Prepare(
        *file_, *context.communicator, {.threads = context.threads, .cores = context.cores},
        [this, is_one = context.rank == 1] {
          return is_one && fails_ ? absl::DataLossError("the memory has a fault") : absl::OkStatus();
        });
  }
  absl::Status RunAll(ResidentJob& job, const std::string& program, int step) {
    return job.Run([&](RankContext& context) { return ranks_[context.rank].Run(program, step); });
  }

  std::unique_ptr<ResidentJob> Open() {
    auto job = resident_->Open(file_->root().window_bytes());
    EXPECT_TRUE(job.ok()) << job.status();
    if (!job.ok()) return nullptr;
    EXPECT_EQ((*job)->Run([this](RankContext& context) { return Prepare(context); }), absl::OkStatus());
    return *std::move(job);
  }
  void Close(std::unique_ptr<ResidentJob> job) {
    ranks_ = std::vector<TwoProgramsRank>(size_);
    job.reset();
  }

  // Of this thread, between runs.
  void Fill(int step) {
    for (uint32_t rank = 0; rank < size_; ++rank) ranks_[rank].Fill(rank, step);
  }
  void RunBoth(ResidentJob& job, int steps) {
    for (int step = 0; step < steps; ++step) {
      Fill(step);
      ASSERT_EQ(RunAll(job, "main", step), absl::OkStatus());
      for (const TwoProgramsRank& rank : ranks_) ASSERT_EQ(rank.t.values(), testing::ExpectedMain(size_, step));
      ASSERT_EQ(RunAll(job, "sum", step), absl::OkStatus());
      for (const TwoProgramsRank& rank : ranks_) ASSERT_EQ(rank.s.values(), testing::ExpectedSum(size_, step));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(TwoToFour, EmbeddingTest, ::testing::Values(2u, 3u, 4u));

TEST_P(EmbeddingTest, TwoProgramsRunInTurnOverMemoryOfTheCaller) {
  std::unique_ptr<ResidentJob> job = Open();
  ASSERT_NE(job, nullptr);
  RunBoth(*job, 5);
  Close(std::move(job));
}

// Rank 1 fails in a step's first copy, while the others wait for it in the all-reduce behind.
TEST_P(EmbeddingTest, ARankThatFailsInAStepEndsItsJobAlone) {
  std::unique_ptr<ResidentJob> job = Open();
  ASSERT_NE(job, nullptr);
  RunBoth(*job, 2);
  Fill(2);
  fails_ = true;
  const absl::Status status = RunAll(*job, "main", 2);
  EXPECT_EQ(status,
            absl::DataLossError("rank 1: program 'main' instruction 2 (copy) at model.py:1:1: step 2: the memory "
                                "has a fault"));
  for (uint32_t rank = 0; rank < size_; ++rank) {
    if (rank == 1) continue;
    EXPECT_THAT(Message(job->outcomes()[rank]), HasSubstr("all_reduce"));
    EXPECT_THAT(Message(job->outcomes()[rank]), HasSubstr(Message(status)));
  }
  Close(std::move(job));

  fails_ = false;
  job = Open();
  ASSERT_NE(job, nullptr);
  RunBoth(*job, 2);
  Close(std::move(job));
}

// Sessions of another artifact, whose steps add 4 to each of w's four elements: the loss after k steps is 4 + 16 k.
class Training {
 public:
  Training(const data::TemporaryFolder& folder, uint32_t ranks) : sessions_(ranks) {
    RunOptions options;
    options.artifact = folder / "toy.sgda";
    options.data = {folder / "data.safetensors"};
    options.mode = Mode::kTrain;
    options.steps = 1;
    options.deadline = kTimeout;
    WriteToyArtifact(options.artifact, {.ranks = ranks, .has_init = true});
    auto writer = data::TensorFileWriter::Create(options.data[0], {{"x", data::ElementType::F32, {8, 4}}});
    data::WriteTensor(*writer, 0, std::vector<float>(32, 1).data());
    EXPECT_TRUE(writer->Commit().ok());
    auto file = artifact::ArtifactFile::Open(options.artifact);
    EXPECT_TRUE(file.ok()) << file.status();
    auto job = PrepareJob(options, *std::move(file));
    EXPECT_TRUE(job.ok()) << job.status();
    job_ = std::make_unique<Job>(*std::move(job));
  }

  uint64_t window_bytes() const { return HostWindowBytes(*job_->file); }
  Session& session(uint32_t rank) { return *sessions_[rank]; }
  void Close() {
    for (auto& session : sessions_) session.reset();
  }

  absl::Status Prepare(RankContext& context) {
    trace::StartTimes start(trace::MonotonicNanoseconds());
    auto session = Session::Create(*job_, context, hooks_, start);
    if (session.ok()) sessions_[context.rank] = *std::move(session);
    return session.status();
  }

  absl::Status Step(RankContext& context, uint64_t step) {
    Session& session = *sessions_[context.rank];
    if (absl::Status status = session.FillInputs(step); !status.ok()) return status;
    if (absl::Status status = session.Begin(step, /*carries=*/false); !status.ok()) return status;
    if (absl::Status status = session.End(); !status.ok()) return status;
    if (context.rank == 0) losses.push_back(session.ReadScalars().loss->number);
    return session.CarryOutputs();
  }

  std::vector<double> losses;

 private:
  const SessionHooks hooks_{.open_cpu = [](const RankContext&) { return cpu::CpuDevice::Create({1}); },
                            .note = [](const std::string&) {}};
  std::unique_ptr<Job> job_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

// Two artifacts are two jobs. The state of one outlives the other, and a snapshot outlives its own.
TEST_P(EmbeddingTest, CarriedStateOutlivesJobs) {
  const uint32_t ranks = size_ == 3 ? 2 : size_;  // divides the toy's rows
  const auto resident = *ResidentRanks::Start(ranks, {.threads = 1});
  data::TemporaryFolder folder;
  Training training(folder, ranks);
  const auto open = [&] {
    auto job = *resident->Open(training.window_bytes());
    EXPECT_EQ(job->Run([&](RankContext& context) { return training.Prepare(context); }), absl::OkStatus());
    return job;
  };
  const auto step = [&](ResidentJob& job, uint64_t step) {
    EXPECT_EQ(job.Run([&](RankContext& context) { return training.Step(context, step); }), absl::OkStatus());
  };
  auto job = open();
  step(*job, 0);
  {
    const auto failing = *resident->Open(4096);
    const absl::Status status = failing->Run([](RankContext& context) {
      return context.rank == 0 ? absl::UnavailableError("no power") : context.control->Barrier(kTimeout);
    });
    EXPECT_EQ(status, absl::UnavailableError("rank 0: no power"));
  }
  step(*job, 1);
  std::vector<StateSnapshot> snapshots(ranks);
  EXPECT_EQ(job->Run([&](RankContext& context) {
    return training.session(context.rank).state().Snapshot(snapshots[context.rank]);
  }),
            absl::OkStatus());
  step(*job, 2);
  EXPECT_THAT(Message(job->Run([&](RankContext& context) {
                return context.rank == 1 ? absl::UnavailableError("no power") : training.Step(context, 3);
              })),
              HasSubstr("rank 1: no power"));
  training.Close();
  job.reset();

  job = open();
  EXPECT_EQ(job->Run([&](RankContext& context) {
    return training.session(context.rank).state().Restore(snapshots[context.rank]);
  }),
            absl::OkStatus());
  step(*job, 2);
  training.Close();
  EXPECT_THAT(training.losses, ElementsAre(20, 36, 52, 52));
}

}  // namespace
}  // namespace sgd::train
