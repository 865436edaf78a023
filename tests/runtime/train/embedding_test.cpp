// A program that has the runtime inside: ranks that are its threads run several programs over its own memory, keep
// their state between runs, and survive a rank that fails. Runs under the address and thread sanitizers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/writer.h"
#include "runtime/exec/executor.h"
#include "runtime/launch/resident_ranks.h"
#include "runtime/train/session.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/data/tensor_files.h"
#include "tests/runtime/exec/guarded_device.h"
#include "tests/tools/toy_artifact.h"

namespace sgd::train {
namespace {

using artifact::Slice;
using artifact::Space;
using launch::RankContext;
using launch::ResidentJob;
using launch::ResidentRanks;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Copies of this device fail while `*fails`.
class FailingDevice final : public testing::GuardedDevice {
 public:
  FailingDevice(std::unique_ptr<cpu::CpuDevice> cpu, const std::atomic<bool>* fails)
      : GuardedDevice(std::move(cpu)), fails_(fails) {}

  absl::StatusOr<std::unique_ptr<device::Thunk>> PrepareCopy(const std::byte* source, std::byte* target,
                                                             uint64_t bytes) override {
    auto copy = GuardedDevice::PrepareCopy(source, target, bytes);
    if (!copy.ok()) return copy.status();
    return std::make_unique<FailingCopy>(*std::move(copy), fails_);
  }

 private:
  class FailingCopy final : public device::Thunk {
   public:
    FailingCopy(std::unique_ptr<device::Thunk> copy, const std::atomic<bool>* fails)
        : copy_(std::move(copy)), fails_(fails) {}
    absl::Status Execute() override {
      return *fails_ ? absl::DataLossError("the memory has a fault") : copy_->Execute();
    }

   private:
    const std::unique_ptr<device::Thunk> copy_;
    const std::atomic<bool>* const fails_;
  };

  const std::atomic<bool>* const fails_;
};

// The sample's program "main": t [4, 16] = the sum over ranks of 2 x w + rank, and flag. Beside it "sum": s [4, 8] =
// the sum of x over the ranks, which all ranks have.
std::unique_ptr<artifact::ArtifactFile> TwoPrograms(uint32_t ranks) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, ranks);
  artifact::ArtifactT& root = writer.artifact();
  const uint64_t s = root.private_bytes;
  root.private_bytes += 128;
  auto program = std::make_unique<artifact::ProgramT>();
  program->name = "sum";
  program->locations = {"model.py:7:7"};
  const artifact::InputT& x = *root.programs[0]->inputs[0];
  program->inputs.push_back(std::make_unique<artifact::InputT>(x));
  const auto copy = [&](const Slice& source, const Slice& target) {
    artifact::CopyT operation;
    operation.source = std::make_unique<Slice>(source);
    operation.target = std::make_unique<Slice>(target);
    testing::Append(*program, std::move(operation));
  };
  const Slice window(Space::Window, 0, 128);
  copy(*x.slice, window);
  artifact::CollectiveT sum;
  sum.kind = artifact::CollectiveKind::AllReduce;
  sum.reduce = artifact::ReduceKind::Add;
  sum.axes = {artifact::AxisRef(0, 1, ranks)};
  sum.operands.push_back(std::make_unique<artifact::CollectiveOperandT>());
  sum.operands[0]->element = artifact::ElementType::F32;
  sum.operands[0]->source = std::make_unique<Slice>(window);
  sum.operands[0]->target = std::make_unique<Slice>(window);
  sum.operands[0]->count = 32;
  testing::Append(*program, std::move(sum));
  copy(window, Slice(Space::Private, s, 128));
  auto output = std::make_unique<artifact::OutputT>();
  output->name = "s";
  output->type = testing::TensorOf(artifact::ElementType::F32, {4, 8}, 1);
  output->slice = testing::SliceAt(Space::Private, s, 128);
  program->outputs.push_back(std::move(output));
  root.programs.push_back(std::move(program));
  return *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "two.sgda");
}

// Memory of the program that a rank computes on.
class Floats {
 public:
  explicit Floats(size_t count) : count_(count), data_(static_cast<float*>(aligned_alloc(64, count * 4)), &free) {
    std::memset(data_.get(), 0, count * 4);
  }
  float& operator[](size_t i) const { return data_.get()[i]; }
  std::span<std::byte> bytes() const { return {reinterpret_cast<std::byte*>(data_.get()), count_ * 4}; }

 private:
  size_t count_;
  std::unique_ptr<float, decltype(&free)> data_;
};

// A rank of the job with two programs, prepared once.
struct Rank {
  Floats x{32}, w{128}, t{64}, s{32};
  std::unique_ptr<device::Device> device;
  std::unique_ptr<exec::ExecutionContext> context;
  std::unique_ptr<exec::Executor> main, sum;
};

class EmbeddingTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  const uint32_t size_ = GetParam();
  const std::unique_ptr<artifact::ArtifactFile> file_ = TwoPrograms(size_);
  std::atomic<bool> fails_{false};
  const std::unique_ptr<ResidentRanks> resident_ = *ResidentRanks::Start(size_, {.threads = 1});
  std::vector<Rank> ranks_{size_};

  absl::Status Prepare(RankContext& context) {
    Rank& rank = ranks_[context.rank];
    auto cpu = cpu::CpuDevice::Create({.threads = context.threads, .cores = context.cores});
    if (!cpu.ok()) return cpu.status();
    rank.device = std::make_unique<FailingDevice>(*std::move(cpu), context.rank == 1 ? &fails_ : &kNever);
    auto made = exec::ExecutionContext::Create(*file_, *rank.device, *context.communicator);
    if (!made.ok()) return made.status();
    rank.context = *std::move(made);
    exec::ExecutorOptions options{.timeout = kTimeout};
    options.inputs = {{0, rank.x.bytes()}, {1, rank.w.bytes()}};
    options.outputs = {{0, rank.t.bytes()}};
    auto main = exec::Executor::Create(*rank.context, "main", options);
    if (!main.ok()) return main.status();
    options.inputs = {{0, rank.x.bytes()}};
    options.outputs = {{0, rank.s.bytes()}};
    auto sum = exec::Executor::Create(*rank.context, "sum", options);
    if (!sum.ok()) return sum.status();
    rank.main = *std::move(main), rank.sum = *std::move(sum);
    return absl::OkStatus();
  }

  std::unique_ptr<ResidentJob> Open() {
    auto job = resident_->Open(file_->root().window_bytes());
    EXPECT_TRUE(job.ok()) << job.status();
    if (!job.ok()) return nullptr;
    EXPECT_EQ((*job)->Run([this](RankContext& context) { return Prepare(context); }), absl::OkStatus());
    return *std::move(job);
  }
  void Close(std::unique_ptr<ResidentJob> job) {
    ranks_ = std::vector<Rank>(size_);
    job.reset();
  }

  // Of this thread, between runs.
  void Fill(int step) {
    for (uint32_t rank = 0; rank < size_; ++rank) {
      for (size_t i = 0; i < 32; ++i) ranks_[rank].x[i] = static_cast<float>(i % 5 + rank + step);
      for (size_t i = 0; i < 128; ++i) ranks_[rank].w[i] = static_cast<float>(i % 7);
    }
  }
  // All values are small integers.
  void ExpectMain() {
    for (size_t m = 0; m < 4; ++m) {
      for (size_t n = 0; n < 16; ++n) {
        float expected = 0;
        for (uint32_t rank = 0; rank < size_; ++rank) {
          expected += static_cast<float>(rank);
          for (size_t k = 0; k < 8; ++k) expected += 2 * ranks_[rank].x[m * 8 + k] * ranks_[rank].w[k * 16 + n];
        }
        for (const Rank& rank : ranks_) ASSERT_EQ(rank.t[m * 16 + n], expected);
      }
    }
  }
  void ExpectSum() {
    for (size_t i = 0; i < 32; ++i) {
      float expected = 0;
      for (const Rank& rank : ranks_) expected += rank.x[i];
      for (const Rank& rank : ranks_) ASSERT_EQ(rank.s[i], expected);
    }
  }
  void RunBoth(ResidentJob& job, int steps) {
    for (int step = 0; step < steps; ++step) {
      Fill(step);
      ASSERT_EQ(job.Run([&](RankContext& context) { return ranks_[context.rank].main->Run(step); }), absl::OkStatus());
      ExpectMain();
      ASSERT_EQ(job.Run([&](RankContext& context) { return ranks_[context.rank].sum->Run(step); }), absl::OkStatus());
      ExpectSum();
    }
  }

 private:
  inline static const std::atomic<bool> kNever{false};
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
  const absl::Status status = job->Run([&](RankContext& context) { return ranks_[context.rank].main->Run(2); });
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
    options.data = folder / "data.safetensors";
    options.mode = Mode::kTrain;
    options.steps = 1;
    options.deadline = kTimeout;
    WriteToyArtifact(options.artifact, {.ranks = ranks, .has_init = true});
    auto writer = data::TensorFileWriter::Create(options.data, {{"x", data::ElementType::F32, {8, 4}}});
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
    session.FillInputs(step);
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
