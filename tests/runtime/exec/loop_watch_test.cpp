// A step in a loop that never ends: said once, and ended where there is a limit.
#include "runtime/exec/loop_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/writer.h"
#include "runtime/exec/executor.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::exec {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The sample, and then a loop of three trips around one of `inner`, whose body fills; its predicate, where it has one,
// is the byte that it fills.
std::unique_ptr<artifact::ArtifactFile> SampleWithLoops(const artifact::LoopT& inner) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  artifact::ProgramT& program = *writer.artifact().programs[0];
  artifact::FillT fill;
  fill.target = testing::SliceAt(artifact::Space::Private, 0, 4);
  fill.pattern = {1};
  artifact::LoopT outer;
  outer.trips = 3, outer.body = 3;
  testing::Append(program, outer).loc = 1;
  testing::Append(program, inner).loc = 1;
  testing::Append(program, fill);
  testing::Append(program, fill);
  return *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda");
}

artifact::LoopT Endless() {
  artifact::LoopT loop;
  loop.condition = 1, loop.body = 1;
  loop.predicate = testing::SliceAt(artifact::Space::Private, 0, 1);
  return loop;
}

absl::Status RunStep(const artifact::ArtifactFile& file, const LoopLimits& limits) {
  absl::Status status;
  comm::RunAsThreads(1, file.root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    auto device = *cpu::CpuDevice::Create({});
    auto context = *ExecutionContext::Create(file, *device, communicator);
    ExecutorOptions options;
    options.loops = limits;
    auto executor = *Executor::Create(*context, "main", options);
    status = executor->Run(4);
  });
  return status;
}

TEST(LoopWatch, EndsALoopThatNeverEndsAndNamesIt) {
  const absl::Status status = RunStep(*SampleWithLoops(Endless()), {.step_limit = absl::Milliseconds(50)});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("rank 0: program 'main' step 4: has taken "),
                    HasSubstr("where --step-limit allows 50ms, and begins trip "),
                    HasSubstr(" of instruction 8 (loop) at model.py:2:5, within trip 1 of instruction 7 (loop) at "
                              "model.py:2:5; check the loop's condition")));
}

TEST(LoopWatch, EndsLongLoopsOfKnownTripsToo) {
  artifact::LoopT loop;
  loop.trips = uint64_t{1} << 34, loop.body = 2;
  EXPECT_THAT(std::string(RunStep(*SampleWithLoops(loop), {.step_limit = absl::Milliseconds(50)}).message()),
              HasSubstr(" of instruction 8 (loop) at model.py:2:5, within trip 1 of instruction 7"));
}

TEST(LoopWatch, SaysOnceWhereALongStepIs) {
  std::vector<std::string> notes;
  const LoopLimits limits{.step_limit = absl::Milliseconds(200),
                          .note = [&](const std::string& note) { notes.push_back(note); },
                          .note_after = absl::Milliseconds(20)};
  EXPECT_FALSE(RunStep(*SampleWithLoops(Endless()), limits).ok());
  EXPECT_THAT(notes, ElementsAre(AllOf(HasSubstr("step 4 has taken 20ms, and begins trip "),
                                       HasSubstr("--step-limit ends steps that take longer"))));
}

TEST(LoopWatch, LeavesShortStepsAlone) {
  artifact::LoopT loop;
  loop.trips = 1000, loop.body = 2;
  EXPECT_TRUE(RunStep(*SampleWithLoops(loop), {.step_limit = absl::Seconds(60)}).ok());
}

}  // namespace
}  // namespace sgd::exec
