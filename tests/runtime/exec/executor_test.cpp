// Whole programs on ranks that are threads: results, errors, accounting. The sample is described in
// sample_artifact.h.
#include "runtime/exec/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "absl/synchronization/notification.h"
#include "runtime/artifact/writer.h"
#include "runtime/exec/carry.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::exec {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<artifact::ArtifactFile> Sample(uint32_t ranks) {
  return *artifact::ArtifactFile::FromBytes(testing::SampleBytes(ranks), "sample.sgda");
}

std::unique_ptr<device::Device> Cpu(uint32_t threads = 1) { return *cpu::CpuDevice::Create({.threads = threads}); }

// The sample with its all-reduce split: instruction 3 starts it, the fill runs beside it, and
// instruction 5 ends it.
std::unique_ptr<artifact::ArtifactFile> SplitSample(uint32_t ranks) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, ranks);
  auto& instructions = writer.artifact().programs[0]->instructions;
  instructions[3]->op.AsCollective()->starts = true;
  std::swap(instructions[4], instructions[6]);
  artifact::DoneT done;
  done.start = 3;
  auto instruction = std::make_unique<artifact::InstructionT>();
  instruction->op.Set(std::move(done));
  instruction->loc = 1;
  instructions.insert(instructions.begin() + 5, std::move(instruction));
  return *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda");
}

template <typename T>
std::span<std::byte> BytesOf(std::vector<T>& values) {
  return std::as_writable_bytes(std::span<T>(values));
}

std::vector<float> Ramp(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = scale * static_cast<float>(i % 11) - 1.0f;
  return values;
}

// t of the sample: the sum over ranks r of 2 x_r w + r, x_r being rows [4 r, 4 r + 4) of x.
std::vector<float> ExpectedT(uint32_t ranks, const std::vector<float>& x, const std::vector<float>& w) {
  std::vector<float> t(64, 0.0f);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 16; ++j) {
        float sum = 0;
        for (size_t k = 0; k < 8; ++k) sum += x[(rank * 4 + i) * 8 + k] * w[k * 16 + j];
        t[i * 16 + j] += 2 * sum + static_cast<float>(rank);
      }
    }
  }
  return t;
}

void CheckNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-3f) << i;
}

class ExecutorOnRanks : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ExecutorOnRanks, RunsStepsAndCarriesState) {
  const uint32_t ranks = GetParam();
  const auto file = Sample(ranks);
  std::vector<float> x = Ramp(32 * ranks, 0.25f), w = Ramp(128, 0.125f), second_w(128);
  for (size_t i = 0; i < 128; ++i) second_w[i] = static_cast<float>(i);
  std::vector<float> t(64), new_w(128), second_t(64);
  std::vector<int32_t> flag(1);
  comm::RunAsThreads(ranks, file->root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    auto device = Cpu(2);
    auto context = ExecutionContext::Create(*file, *device, communicator);
    ASSERT_TRUE(context.ok()) << context.status();
    EXPECT_EQ((*context)->arena_bytes(), 1984u + 256u + 512u);
    auto executor = Executor::Create(**context, "main", {});
    ASSERT_TRUE(executor.ok()) << executor.status();
    ASSERT_TRUE((*executor)->UploadInput(0, BytesOf(x)).ok());
    ASSERT_TRUE((*executor)->UploadInput(1, BytesOf(w)).ok());
    auto carry = Carry::Create(**context, **executor, **executor, RecordedCarry(**executor));
    ASSERT_TRUE(carry.ok()) << carry.status();

    const absl::Status first = (*executor)->Run(0);
    ASSERT_TRUE(first.ok()) << first;
    ASSERT_TRUE((*executor)->DownloadOutput(0, BytesOf(t)).ok());
    ASSERT_TRUE((*executor)->DownloadOutput(1, BytesOf(new_w)).ok());
    ASSERT_TRUE((*executor)->DownloadOutput(2, BytesOf(flag)).ok());
    EXPECT_GE((*executor)->timing().total, (*executor)->timing().communication);
    ASSERT_TRUE((*carry)->Run().ok());
    ASSERT_TRUE((*executor)->Run(1).ok());
    ASSERT_TRUE((*executor)->DownloadOutput(0, BytesOf(second_t)).ok());
  });
  CheckNear(t, ExpectedT(ranks, x, w));
  EXPECT_EQ(new_w, second_w);
  EXPECT_EQ(flag[0], 7);
  CheckNear(second_t, ExpectedT(ranks, x, second_w));
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExecutorOnRanks, ::testing::Values(1, 2, 4));

// Runs loops and branches that fill the sample's flag, 7, and returns it.
int32_t FlagAfter(const std::function<void(artifact::ProgramT&)>& change) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  change(*writer.artifact().programs[0]);
  const auto file = *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda");
  std::vector<int32_t> flag(1, -1);
  comm::RunAsThreads(1, file->root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    auto device = Cpu();
    auto context = ExecutionContext::Create(*file, *device, communicator);
    ASSERT_TRUE(context.ok()) << context.status();
    auto executor = Executor::Create(**context, "main", {.profile = true});
    ASSERT_TRUE(executor.ok()) << executor.status();
    const absl::Status status = (*executor)->Run(0);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE((*executor)->DownloadOutput(2, BytesOf(flag)).ok());
  });
  return flag[0];
}

std::unique_ptr<artifact::Slice> Flag() { return testing::SliceAt(artifact::Space::Private, 1920, 4); }

void AddFill(artifact::ProgramT& program, uint8_t value) {
  artifact::FillT fill;
  fill.target = Flag();
  fill.pattern = {value, 0, 0, 0};
  testing::Append(program, std::move(fill));
}

// Branches that fill the flag with these values; the flag says which.
void AddCase(artifact::ProgramT& program, const std::vector<uint8_t>& values) {
  artifact::CaseT branches;
  branches.index = Flag();
  branches.branches.assign(values.size(), 1);
  testing::Append(program, std::move(branches));
  for (uint8_t value : values) AddFill(program, value);
}

TEST(ExecutorControlFlow, TakesTheBranchOfTheNumberOrTheLast) {
  EXPECT_EQ(FlagAfter([](artifact::ProgramT& program) { AddCase(program, {1, 2, 3}); }), 3);
  EXPECT_EQ(FlagAfter([](artifact::ProgramT& program) {
              AddFill(program, 1);
              AddCase(program, {1, 2, 3});
            }),
            2);
}

TEST(ExecutorControlFlow, CountsTrips) {
  for (uint64_t trips : {0, 1, 2, 3}) {
    const int32_t flag = FlagAfter([&](artifact::ProgramT& program) {
      AddFill(program, 0);
      artifact::LoopT loop;
      loop.trips = trips;
      loop.body = 4;
      testing::Append(program, std::move(loop));
      AddCase(program, {1, 2, 3});  // counts
    });
    EXPECT_EQ(flag, static_cast<int32_t>(trips));
  }
}

// The condition counts too: 0 -> 3 -> 2 -> 1 -> 0, and 0 ends the loop before its body runs.
TEST(ExecutorControlFlow, GoesOnWhileThePredicateHolds) {
  EXPECT_EQ(FlagAfter([](artifact::ProgramT& program) {
              AddFill(program, 3);
              artifact::LoopT loop;
              loop.predicate = Flag();
              loop.condition = 5;
              loop.body = 0;
              testing::Append(program, std::move(loop));
              AddCase(program, {9, 0, 1, 2});
            }),
            0);
}

// t of the sample after one step; `prepare` gets every rank's communicator.
std::vector<float> RunOnce(const artifact::ArtifactFile& file, uint32_t ranks,
                           const std::function<void(comm::SharedMemoryCommunicator&)>& prepare) {
  std::vector<float> x = Ramp(32 * ranks, 0.25f), w = Ramp(128, 0.125f), t(64);
  comm::RunAsThreads(ranks, file.root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    prepare(communicator);
    auto device = Cpu();
    auto context = *ExecutionContext::Create(file, *device, communicator);
    auto executor = *Executor::Create(*context, "main", {});
    ASSERT_TRUE(executor->UploadInput(0, BytesOf(x)).ok());
    ASSERT_TRUE(executor->UploadInput(1, BytesOf(w)).ok());
    const absl::Status status = executor->Run(0);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(executor->DownloadOutput(0, BytesOf(t)).ok());
  });
  return t;
}

TEST_P(ExecutorOnRanks, SplitCollectivesGiveTheSameBits) {
  const uint32_t ranks = GetParam();
  const std::vector<float> whole = RunOnce(*Sample(ranks), ranks, [](comm::SharedMemoryCommunicator&) {});
  const auto file = SplitSample(ranks);
  EXPECT_EQ(RunOnce(*file, ranks, [](comm::SharedMemoryCommunicator&) {}), whole);
  EXPECT_EQ(RunOnce(*file, ranks,
                    [](comm::SharedMemoryCommunicator& communicator) {
                      ASSERT_TRUE(communicator.StartThread(/*has_own_core=*/false).ok());
                    }),
            whole);
}

// Runs `body` with a context over one rank.
void WithContext(const artifact::ArtifactFile& file, const std::function<void(ExecutionContext&)>& body,
                 const cpu::CpuDeviceOptions& options = {}) {
  comm::RunAsThreads(1, file.root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    auto device = *cpu::CpuDevice::Create(options);
    auto context = ExecutionContext::Create(file, *device, communicator);
    ASSERT_TRUE(context.ok()) << context.status();
    body(**context);
  });
}

TEST(Executor, DescribesInputsAndOutputs) {
  const auto file = Sample(1);
  WithContext(*file, [](ExecutionContext& context) {
    auto executor = *Executor::Create(context, "main", {});
    ASSERT_EQ(executor->inputs().size(), 2u);
    EXPECT_EQ(executor->inputs()[0].name, "x");
    EXPECT_FALSE(executor->inputs()[0].is_state);
    EXPECT_TRUE(executor->inputs()[1].is_state);
    EXPECT_EQ(executor->InputBytes(1).size(), 512u);
    EXPECT_EQ(executor->outputs()[1].carry_input, 1u);
    EXPECT_EQ(executor->OutputBytes(2).size(), 4u);
    EXPECT_EQ(RecordedCarry(*executor), (CarryPairs{{1, 1}}));
  });
}

TEST(Executor, NullKernelsSkipComputation) {
  const auto file = Sample(1);
  const auto run = [](ExecutionContext& context) {
    auto executor = *Executor::Create(context, "main", {});
    std::vector<float> x(32, 1.0f), w(128, 1.0f), t(64, 5.0f);
    std::vector<int32_t> flag(1);
    ASSERT_TRUE(executor->UploadInput(0, BytesOf(x)).ok());
    ASSERT_TRUE(executor->UploadInput(1, BytesOf(w)).ok());
    ASSERT_TRUE(executor->Run(0).ok());
    ASSERT_TRUE(executor->DownloadOutput(0, BytesOf(t)).ok());
    ASSERT_TRUE(executor->DownloadOutput(2, BytesOf(flag)).ok());
    EXPECT_EQ(t, std::vector<float>(64, 0.0f));
    EXPECT_EQ(flag[0], 7);  // fills, copies and collectives stay
  };
  for (uint32_t threads : {1u, 2u}) WithContext(*file, run, {.threads = threads, .null_kernels = true});
}

TEST(Executor, RefusesWrongSizesAndNames) {
  const auto file = Sample(1);
  WithContext(*file, [](ExecutionContext& context) {
    auto executor = *Executor::Create(context, "main", {});
    std::vector<float> small(31);
    EXPECT_EQ(executor->UploadInput(0, BytesOf(small)).message(),
              "input 0 'x' of program 'main': given 124 bytes, it has 128");
    EXPECT_EQ(executor->DownloadOutput(0, BytesOf(small)).message(),
              "output 0 't' of program 'main': a buffer of 124 bytes, it has 256");
    EXPECT_EQ(Executor::Create(context, "eval", {}).status().message(),
              "sample.sgda: has no program 'eval'; expected one of: main; compile the model again with that program");
  });
}

TEST(Executor, ErrorsOfPreparationSayWhere) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  artifact::InstructionT& instruction = *writer.artifact().programs[0]->instructions[0];
  instruction.op.AsMatmul()->element = artifact::ElementType::Bool;
  const auto file = *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda");
  WithContext(*file, [](ExecutionContext& context) {
    const absl::Status status = Executor::Create(context, "main", {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("rank 0: program 'main' instruction 0 (matmul) at model.py:1:1: matmul "
                          "on bool elements"));
  });
}

// Runs step 3 on rank 0 of two whose rank 1 never comes; the error holds `parts`.
void ExpectLatePeer(const artifact::ArtifactFile& file, bool has_thread, const std::vector<std::string>& parts) {
  absl::Notification gave_up;
  comm::RunAsThreads(2, file.root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    if (has_thread) ASSERT_TRUE(communicator.StartThread(/*has_own_core=*/false).ok());
    auto device = Cpu();
    auto context = *ExecutionContext::Create(file, *device, communicator);
    ExecutorOptions options;
    options.timeout = absl::Milliseconds(50);
    auto executor = *Executor::Create(*context, "main", options);
    if (communicator.control().rank() == 1) {
      gave_up.WaitForNotification();
      return;
    }
    const absl::Status status = executor->Run(3);
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    for (const std::string& part : parts) EXPECT_THAT(std::string(status.message()), HasSubstr(part));
    communicator.control().Abort(status);
    gave_up.Notify();
  });
}

TEST(Executor, ErrorsOfAStepSayWhere) {
  ExpectLatePeer(*Sample(2), /*has_thread=*/false,
                 {"rank 0: program 'main' instruction 3 (all_reduce) at model.py:1:1: step 3: ", "rank 1"});
}

TEST(Executor, ErrorsOfACollectiveUnderWaySayWhere) {
  ExpectLatePeer(*SplitSample(2), /*has_thread=*/true,
                 {"rank 0: program 'main' instruction 5 (done) at model.py:2:5: step 3: all_reduce #0 "
                  "(main: instruction 3: model.py:1:1): rank 1 did not arrive"});
}

TEST(ExecutionContext, RefusesWhatDoesNotFit) {
  const auto status_of = [](const artifact::ArtifactFile& file, uint32_t ranks, uint64_t window) {
    std::string message;
    comm::RunAsThreads(ranks, window, [&](comm::SharedMemoryCommunicator& communicator) {
      auto device = Cpu();
      const absl::Status status = ExecutionContext::Create(file, *device, communicator).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      if (communicator.control().rank() == 0) message = std::string(status.message());
    });
    return message;
  };
  EXPECT_EQ(status_of(*Sample(2), 1, 256),
            "sample.sgda: compiled for 2 ranks, started with 1; expected one number; start with -n 2");
  EXPECT_EQ(status_of(*Sample(1), 2, 256),
            "sample.sgda: compiled for 1 ranks, started with 2; expected one number; start with -n 1");
  EXPECT_EQ(status_of(*Sample(1), 1, 64), "sample.sgda: needs a window of 256 bytes, the communicator has 64");
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  writer.artifact().target = "tpu";
  EXPECT_EQ(status_of(**artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda"), 1, 256),
            "sample.sgda: compiled for target 'tpu', this is 'cpu'; expected one target; compile with --target=cpu");
}

}  // namespace
}  // namespace sgd::exec
