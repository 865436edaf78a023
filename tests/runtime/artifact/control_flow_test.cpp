// Loops and branches: what the verifier refuses, and how often instructions run.
#include "runtime/artifact/control_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "runtime/artifact/reader.h"
#include "runtime/artifact/writer.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kSampleInstructions = 7;

void AddFill(ProgramT& program) {
  FillT fill;
  fill.target = testing::SliceAt(Space::Private, 0, 4);
  fill.pattern = {1};
  testing::Append(program, std::move(fill));
}

LoopT LoopOf(uint64_t trips, uint32_t body) {
  LoopT loop;
  loop.trips = trips;
  loop.body = body;
  return loop;
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> With(const std::function<void(ProgramT&)>& change) {
  ArtifactWriter writer;
  testing::FillSample(writer, 2);
  change(*writer.artifact().programs[0]);
  absl::StatusOr<std::string> bytes = writer.Serialize();
  if (!bytes.ok()) return bytes.status();
  return ArtifactFile::FromBytes(*bytes, "sample.sgda");
}

std::string ErrorWith(const std::function<void(ProgramT&)>& change) {
  return std::string(With(change).status().message());
}

// A loop of 3 whose body is a fill and a loop of 5, whose body is a fill.
void AddNested(ProgramT& program) {
  testing::Append(program, LoopOf(3, 3));
  AddFill(program);
  testing::Append(program, LoopOf(5, 1));
  AddFill(program);
}

TEST(ControlFlow, CountsExecutions) {
  const auto file = With([](ProgramT& program) {
    AddNested(program);
    AddFill(program);
  });
  ASSERT_TRUE(file.ok()) << file.status();
  const Program& program = *(*file)->root().programs()->Get(0);
  std::vector<uint64_t> executions = ExecutionsOf(program);
  executions.erase(executions.begin(), executions.begin() + kSampleInstructions);
  EXPECT_THAT(executions, ::testing::ElementsAre(1, 3, 3, 15, 1));
  EXPECT_EQ(Next(program, kSampleInstructions), kSampleInstructions + 4u);
}

TEST(ControlFlow, RefusesWhatIsNotThere) {
  EXPECT_THAT(ErrorWith([](ProgramT& program) {
                testing::Append(program, LoopOf(3, 2));
                AddFill(program);
              }),
              HasSubstr("instruction 7 (loop): runs instructions that are not there"));
  EXPECT_THAT(ErrorWith([](ProgramT& program) {
                testing::Append(program, LoopOf(3, 2));
                testing::Append(program, LoopOf(3, 2));
                AddFill(program);
                AddFill(program);
              }),
              HasSubstr("instruction 8 (loop): runs instructions that are not there"));
  EXPECT_THAT(ErrorWith([](ProgramT& program) { testing::Append(program, LoopOf(1, UINT32_MAX)); }),
              HasSubstr("runs instructions that are not there"));
}

TEST(ControlFlow, RefusesDecisionsWithoutMemory) {
  EXPECT_THAT(ErrorWith([](ProgramT& program) {
                LoopT loop = LoopOf(1, 0);
                loop.condition = 1;
                testing::Append(program, std::move(loop));
                AddFill(program);
              }),
              HasSubstr("a condition without a predicate"));
  EXPECT_THAT(ErrorWith([](ProgramT& program) {
                LoopT loop = LoopOf(0, 0);
                loop.predicate = testing::SliceAt(Space::Private, uint64_t{1} << 40, 1);
                testing::Append(program, std::move(loop));
              }),
              HasSubstr("the predicate"));
  EXPECT_THAT(ErrorWith([](ProgramT& program) {
                CaseT branches;
                branches.index = testing::SliceAt(Space::Private, 0, 2);
                branches.branches = {0};
                testing::Append(program, std::move(branches));
              }),
              HasSubstr("the number of the branch is larger than its slice"));
  EXPECT_THAT(ErrorWith([](ProgramT& program) {
                CaseT branches;
                branches.index = testing::SliceAt(Space::Private, 0, 4);
                testing::Append(program, std::move(branches));
              }),
              HasSubstr("a case without branches"));
}

TEST(ControlFlow, RefusesEndlessDepth) {
  EXPECT_THAT(ErrorWith([](ProgramT& program) {
                for (uint32_t depth = 0; depth <= kMaxDepth; ++depth)
                  testing::Append(program, LoopOf(1, kMaxDepth + 1 - depth));
                AddFill(program);
              }),
              HasSubstr("is nested in 64 others"));
}

// The all-reduce of the sample begins in a loop and is done after it.
TEST(ControlFlow, CollectivesEndWhereTheyBegin) {
  EXPECT_THAT(ErrorWith([](ProgramT& program) {
                program.instructions[3]->op.AsCollective()->starts = true;
                auto loop = std::make_unique<InstructionT>();
                loop->op.Set(LoopOf(2, 1));
                program.instructions.insert(program.instructions.begin() + 3, std::move(loop));
                auto done = std::make_unique<InstructionT>();
                done->op.Set([] {
                  DoneT end;
                  end.start = 4;
                  return end;
                }());
                program.instructions.insert(program.instructions.begin() + 5, std::move(done));
              }),
              HasSubstr("instruction 4 (all_reduce): is started and never done"));
}

}  // namespace
}  // namespace sgd::artifact
