// A rank that computes without end is ended with an error that names where it is; one that finishes parts is not.
#include "runtime/exec/progress_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "runtime/artifact/verify_work.h"
#include "runtime/artifact/writer.h"
#include "runtime/exec/executor.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::exec {
namespace {

using ::testing::HasSubstr;

// The sample with its product replaced.
std::unique_ptr<artifact::ArtifactFile> SampleWith(const std::function<void(artifact::ProgramT&)>& change) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  change(*writer.artifact().programs[0]);
  return *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda");
}

// Executes a step of `file` in a process of its own, and returns what the watch says before it ends that; empty when
// the step ends.
std::string ErrorOfWatch(const artifact::ArtifactFile& file, absl::Duration deadline) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  comm::RunAsProcesses(1, file.root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    auto device = *cpu::CpuDevice::Create({});
    auto context = *ExecutionContext::Create(file, *device, communicator);
    auto watch = *ProgressWatch::Start(*device, {.deadline = deadline, .give_up = [&](const absl::Status& error) {
                                                   const std::string text(error.message());
                                                   _exit(write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
                                                 }});
    ExecutorOptions options;
    options.progress = watch.get();
    auto executor = *Executor::Create(*context, "main", options);
    EXPECT_TRUE(executor->Run(0).ok());
  });
  close(ends[1]);
  char text[4096];
  const ssize_t size = read(ends[0], text, sizeof(text));
  close(ends[0]);
  return std::string(text, size > 0 ? static_cast<size_t>(size) : 0);
}

TEST(ProgressWatch, NamesTheInstructionThatDoesNotEnd) {
  auto endless = SampleWith([](artifact::ProgramT& program) {
    artifact::MatmulT& product = *program.instructions[0]->op.AsMatmul();
    product.k = uint64_t{1} << 40, product.a_k = product.b_k = 0;
  });
  EXPECT_THAT(ErrorOfWatch(*endless, absl::Milliseconds(300)),
              AllOf(HasSubstr("rank 0: program 'main' instruction 0 (matmul) at model.py:1:1: finished nothing in "),
                    HasSubstr("expected a part of it within 300ms")));
}

TEST(ProgressWatch, EndsLoopsOfNothing) {
  auto endless = SampleWith([](artifact::ProgramT& program) {
    artifact::LoopT loop;
    loop.trips = artifact::kMaxExecutions;
    testing::Append(program, loop).loc = 1;
  });
  EXPECT_THAT(ErrorOfWatch(*endless, absl::Milliseconds(300)),
              HasSubstr("instruction 7 (loop) at model.py:2:5: finished nothing"));
}

// More than a deadline, in many parts.
TEST(ProgressWatch, LeavesLongStepsAlone) {
  auto slow = SampleWith([](artifact::ProgramT& program) {
    artifact::LoopT loop;
    loop.trips = 4'000'000, loop.body = 1;
    testing::Append(program, loop);
    testing::Append(program, artifact::FillT(*program.instructions[6]->op.AsFill()));
  });
  const absl::Time begin = absl::Now();
  EXPECT_EQ(ErrorOfWatch(*slow, absl::Milliseconds(20)), "");
  EXPECT_GT(absl::Now() - begin, absl::Milliseconds(20));
}

}  // namespace
}  // namespace sgd::exec
