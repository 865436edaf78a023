// Where values of the sample artifact come from: its inputs, its instructions, other ranks, and through copies and
// collectives that run beside others.
#include "runtime/guard/non_finite_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::guard {
namespace {

using ::testing::HasSubstr;

// With `splits`, instruction 3 starts the all-reduce, a fill runs beside it, and instruction 5 ends it.
std::unique_ptr<artifact::ArtifactFile> Sample(uint32_t ranks, bool splits) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, ranks);
  for (auto& kernel : writer.artifact().kernels)
    kernel->elements.assign(kernel->least_bytes.size(), artifact::ElementType::F32);
  artifact::ProgramT& program = *writer.artifact().programs[0];
  program.locations.push_back("mulf at model.py:7:3");
  program.instructions[1]->op.AsLaunch()->members = {2, 99};  // the second is of no location
  if (splits) {
    auto& instructions = program.instructions;
    instructions[3]->op.AsCollective()->starts = true;
    std::swap(instructions[4], instructions[6]);
    artifact::DoneT done;
    done.start = 3;
    auto instruction = std::make_unique<artifact::InstructionT>();
    instruction->op.Set(std::move(done));
    instructions.insert(instructions.begin() + 5, std::move(instruction));
  }
  auto file = artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda");
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

// The cause of t's values by rank, where x and w are ones but for the first element of x on one rank, and of w.
std::vector<std::optional<NonFiniteTrace::Cause>> CausesOf(uint32_t ranks, bool splits, uint32_t rank_at_fault, float x,
                                                           float w) {
  const auto file = Sample(ranks, splits);
  std::vector<std::optional<NonFiniteTrace::Cause>> causes(ranks);
  comm::RunAsThreads(ranks, file->root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    const std::unique_ptr<device::Device> device = *cpu::CpuDevice::Create({.threads = 1});
    auto context = exec::ExecutionContext::Create(*file, *device, communicator);
    ASSERT_TRUE(context.ok()) << context.status();
    auto executor = exec::Executor::Create(**context, "main", {});
    ASSERT_TRUE(executor.ok()) << executor.status();
    std::vector<float> all_x(32 * ranks, 1), all_w(128, 1);
    all_x[32 * rank_at_fault] = x, all_w[0] = w;
    ASSERT_TRUE((*executor)->UploadInput(0, std::as_bytes(std::span(all_x))).ok());
    ASSERT_TRUE((*executor)->UploadInput(1, std::as_bytes(std::span(all_w))).ok());
    NonFiniteTrace trace(file->root(), **executor);
    const absl::Status status = (*executor)->RunObserved(0, trace);
    ASSERT_TRUE(status.ok()) << status;
    causes[communicator.control().rank()] = trace.CauseOf(0);
    EXPECT_FALSE(trace.CauseOf(2).has_value());  // of integers
  });
  return causes;
}

TEST(NonFiniteTrace, FindsNothingWhereAllIsFinite) {
  for (const auto& cause : CausesOf(2, true, 0, 1, 1)) EXPECT_FALSE(cause.has_value());
}

TEST(NonFiniteTrace, FollowsAnInputThroughCopiesAndCollectives) {
  for (const bool splits : {false, true}) {
    const auto causes = CausesOf(2, splits, 1, std::nanf(""), 1);
    ASSERT_TRUE(causes[0] && causes[1]);
    EXPECT_EQ(causes[1]->text, "input 'x' holds nan at [4, 0]");
    EXPECT_FALSE(causes[1]->is_of_peers);
    EXPECT_TRUE(causes[0]->is_of_peers);
    EXPECT_THAT(causes[0]->text, HasSubstr("instruction 3 (all_reduce)"));
  }
}

TEST(NonFiniteTrace, NamesTheInstructionThatReadsFiniteValues) {
  const auto causes = CausesOf(1, false, 0, 3e38f, 3e38f);
  ASSERT_TRUE(causes[0]);
  EXPECT_EQ(causes[0]->text, "instruction 0 (matmul) at model.py:1:1 makes infinity from finite values");
}

TEST(NonFiniteTrace, NamesTheLinesOfAKernel) {
  // 3e38 in y, twice that in z.
  const auto causes = CausesOf(1, false, 0, 3e38f, 1);
  ASSERT_TRUE(causes[0]);
  EXPECT_EQ(causes[0]->text, "mulf at model.py:7:3 in instruction 1 (launch) makes infinity from finite values");
}

// Each rank's part is finite, their sum is not.
TEST(NonFiniteTrace, ACollectiveMayOverflowItself) {
  EXPECT_FALSE(CausesOf(2, false, 0, 1, 1.5e37f)[0].has_value());
  for (const auto& cause : CausesOf(2, false, 0, 1, 1.2e38f)) {
    ASSERT_TRUE(cause);
    EXPECT_TRUE(cause->is_of_peers);
    EXPECT_EQ(cause->text, "instruction 3 (all_reduce) at model.py:1:1 makes it from finite values of all ranks");
  }
}

}  // namespace
}  // namespace sgd::guard
