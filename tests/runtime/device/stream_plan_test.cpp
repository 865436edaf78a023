// Stream plans of small programs, and that the check finds what is taken out of one.
#include "runtime/device/stream_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "runtime/artifact/control_flow.h"
#include "runtime/device/check_streams.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::device {
namespace {

using artifact::Program;
using artifact::ProgramT;
using artifact::Slice;
using artifact::Space;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ProblemKind = StreamProblem::Kind;
using ActionKind = StreamAction::Kind;

// A program in the form that the runtime reads.
class Built {
 public:
  explicit Built(const ProgramT& program) {
    builder_.Finish(artifact::CreateProgram(builder_, &program));
    program_ = flatbuffers::GetRoot<Program>(builder_.GetBufferPointer());
  }
  const Program& operator*() const { return *program_; }

 private:
  flatbuffers::FlatBufferBuilder builder_;
  const Program* program_;
};

ProgramT Empty() {
  ProgramT program;
  program.name = "main";
  return program;
}

void AddInput(ProgramT& program, Slice slice) {
  auto input = std::make_unique<artifact::InputT>();
  input->name = "x";
  input->type = testing::TensorOf(artifact::ElementType::I8, {slice.size()}, 1);
  input->slice = std::make_unique<Slice>(slice);
  program.inputs.push_back(std::move(input));
}

void AddFill(ProgramT& program, Slice target) {
  artifact::FillT fill;
  fill.target = std::make_unique<Slice>(target);
  fill.pattern = {1};
  testing::Append(program, std::move(fill));
}

void AddCopy(ProgramT& program, Slice source, Slice target) {
  artifact::CopyT copy;
  copy.source = std::make_unique<Slice>(source);
  copy.target = std::make_unique<Slice>(target);
  testing::Append(program, std::move(copy));
}

// An all-gather over mesh axis `axis`; returns its position.
uint32_t AddGather(ProgramT& program, Slice source, Slice target, uint32_t axis, bool starts) {
  artifact::CollectiveT gather;
  gather.kind = artifact::CollectiveKind::AllGather;
  gather.axes = {artifact::AxisRef(axis, 1, 2)};
  gather.starts = starts;
  auto operand = std::make_unique<artifact::CollectiveOperandT>();
  operand->element = artifact::ElementType::I8;
  operand->source = std::make_unique<Slice>(source);
  operand->target = std::make_unique<Slice>(target);
  gather.operands.push_back(std::move(operand));
  testing::Append(program, std::move(gather));
  return static_cast<uint32_t>(program.instructions.size() - 1);
}

void AddDone(ProgramT& program, uint32_t start) {
  artifact::DoneT done;
  done.start = start;
  testing::Append(program, std::move(done));
}

void AddLoop(ProgramT& program, uint64_t trips, uint32_t body) {
  artifact::LoopT loop;
  loop.trips = trips;
  loop.body = body;
  testing::Append(program, std::move(loop));
}

Slice Private(uint64_t offset, uint64_t size) { return {Space::Private, offset, size}; }
Slice Window(uint64_t offset, uint64_t size) { return {Space::Window, offset, size}; }
Slice Host(uint64_t offset, uint64_t size) { return {Space::Host, offset, size}; }

size_t CountActions(const StreamPlan& plan, ActionKind kind) {
  size_t count = 0;
  for (const StreamBlock& block : plan.blocks) count += std::ranges::count(block, kind, &StreamAction::kind);
  return count;
}

StreamPlan Without(const StreamPlan& plan, size_t block, size_t action) {
  StreamPlan less = plan;
  less.blocks[block].erase(less.blocks[block].begin() + static_cast<std::ptrdiff_t>(action));
  return less;
}

auto HasProblem(ProblemKind kind, const std::string& text) {
  return Contains(::testing::AllOf(Field(&StreamProblem::kind, kind), Field(&StreamProblem::text, HasSubstr(text))));
}

// x, gathered while something else is filled, is copied on.
ProgramT Overlapped() {
  ProgramT program = Empty();
  AddInput(program, Window(0, 8));
  const uint32_t start = AddGather(program, Window(0, 8), Window(64, 16), 0, true);
  AddFill(program, Private(0, 8));
  AddDone(program, start);
  AddCopy(program, Window(64, 16), Private(64, 16));
  return program;
}

TEST(StreamPlan, ComputesWhileItCommunicates) {
  const Built program(Overlapped());
  const StreamPlan plan = PlanStreams(*program);
  EXPECT_THAT(CheckStreams(*program, plan), IsEmpty());
  ASSERT_EQ(plan.streams(), 2u);
  // Fork, gather with its event, fill, wait, copy: the fill does not wait.
  const StreamBlock& block = plan.blocks[0];
  std::vector<uint32_t> order;
  size_t wait = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    if (block[i].kind == ActionKind::kRun) order.push_back(block[i].instruction);
    if (block[i].kind == ActionKind::kWait && block[i].stream == StreamPlan::kCompute) wait = i;
  }
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 3));
  EXPECT_EQ(block[wait + 1].instruction, 3u);
}

TEST(StreamPlan, OneStreamWithoutCollectives) {
  ProgramT program = Empty();
  AddFill(program, Private(0, 8));
  AddCopy(program, Private(0, 8), Private(64, 8));
  const Built built(program);
  const StreamPlan plan = PlanStreams(*built);
  EXPECT_EQ(plan.streams(), 1u);
  EXPECT_EQ(plan.events, 0u);
  EXPECT_THAT(CheckStreams(*built, plan), IsEmpty());
}

TEST(StreamPlan, CommunicatorsFollowTheProgramsOrder) {
  ProgramT program = Empty();
  AddInput(program, Window(0, 8));
  AddGather(program, Window(0, 8), Window(64, 16), 0, false);
  AddGather(program, Window(0, 8), Window(128, 16), 1, false);
  const Built built(program);
  const StreamPlan plan = PlanStreams(*built);
  ASSERT_EQ(plan.streams(), 3u);
  EXPECT_THAT(CheckStreams(*built, plan), IsEmpty());
  for (size_t i = 0; i < plan.blocks[0].size(); ++i) {
    const StreamAction& action = plan.blocks[0][i];
    // Not the fork, which is the second stream's first wait.
    if (action.kind != ActionKind::kWait || action.stream != 2 || plan.blocks[0][i - 2].kind == ActionKind::kRecord)
      continue;
    EXPECT_THAT(CheckStreams(*built, Without(plan, 0, i)),
                HasProblem(ProblemKind::kUnorderedCollectives,
                           "instruction 1 (all_gather): on communicator 2 may run before or after "
                           "instruction 0 (all_gather) on communicator 1"));
  }
}

TEST(StreamPlan, HostThreadsMeetWhereItIsDone) {
  ProgramT program = Overlapped();
  std::swap(program.instructions[2], program.instructions[3]);  // the copy before the done
  const Built built(program);
  EXPECT_THAT(
      CheckStreams(*built, PlanHostThreads(*built)),
      HasProblem(ProblemKind::kRace,
                 "instruction 2 (copy): reads Window bytes 64 to 80 on compute while instruction 0 (all_gather) "
                 "on communicator 1 may still write Window bytes 64 to 80"));
  const Built right(Overlapped());
  EXPECT_THAT(CheckStreams(*right, PlanHostThreads(*right)), IsEmpty());
}

TEST(CheckStreams, UseBeforeDefinition) {
  ProgramT program = Empty();
  AddInput(program, Private(0, 8));
  AddCopy(program, Private(0, 12), Private(64, 12));
  const Built built(program);
  EXPECT_THAT(CheckStreams(*built, PlanStreams(*built)),
              HasProblem(ProblemKind::kUndefined,
                         "instruction 0 (copy): reads Private bytes 0 to 12, of which 4 have not been written"));
}

TEST(CheckStreams, EventsThatNobodyRecorded) {
  const Built program(Overlapped());
  StreamPlan plan = PlanStreams(*program);
  std::erase_if(plan.blocks[0], [](const StreamAction& action) { return action.kind == ActionKind::kRecord; });
  const std::vector<StreamProblem> problems = CheckStreams(*program, plan);
  EXPECT_THAT(problems,
              HasProblem(ProblemKind::kUnrecordedEvent, "compute waits for event 1, which nobody has recorded"));
  EXPECT_THAT(problems, HasProblem(ProblemKind::kUnjoined, "communicator 1 may still work when the step ends"));
}

// Each of them runs twice what is in it.
TEST(CheckStreams, EndsInLoopsThatDouble) {
  ProgramT program = Empty();
  for (uint32_t depth = 30; depth > 0; --depth) {
    artifact::LoopT loop;
    loop.trips = 3, loop.body = depth;
    testing::Append(program, loop);
  }
  AddFill(program, Private(0, 8));
  const Built built(program);
  EXPECT_THAT(CheckStreams(*built, PlanStreams(*built)),
              HasProblem(ProblemKind::kTooLong, "the check ends here, after 1048576 instructions"));
}

TEST(CheckStreams, InstructionsLeftOut) {
  const Built program(Overlapped());
  StreamPlan plan = PlanStreams(*program);
  std::erase_if(plan.blocks[0],
                [](const StreamAction& action) { return action.kind == ActionKind::kRun && action.instruction == 1; });
  EXPECT_THAT(CheckStreams(*program, plan), HasProblem(ProblemKind::kMissing, "instruction 1 (fill): is never run"));
}

// A trip of the body reads what the trip before it has gathered into.
TEST(CheckStreams, TripsOfALoopMeet) {
  ProgramT program = Empty();
  AddInput(program, Window(0, 8));
  AddInput(program, Window(64, 16));
  AddLoop(program, 5, 2);
  AddCopy(program, Window(64, 16), Private(0, 16));
  AddGather(program, Window(0, 8), Window(64, 16), 0, false);
  const Built built(program);
  const StreamPlan plan = PlanStreams(*built);
  EXPECT_THAT(CheckStreams(*built, plan), IsEmpty());
  ASSERT_EQ(plan.blocks.size(), 3u);
  const StreamBlock& body = plan.blocks[2];
  ASSERT_EQ(body.back().kind, ActionKind::kWait);
  EXPECT_THAT(CheckStreams(*built, Without(plan, 2, body.size() - 1)),
              HasProblem(ProblemKind::kRace, "instruction 1 (copy)"));
}

// x is on the host while something else is computed in its place, and comes back beside another fill.
TEST(StreamPlan, CopiesToTheHostRunBesideCompute) {
  ProgramT program = Empty();
  AddInput(program, Window(0, 8));
  AddInput(program, Private(0, 8));
  AddGather(program, Window(0, 8), Window(64, 16), 0, false);
  AddCopy(program, Private(0, 8), Host(0, 8));
  AddFill(program, Private(64, 8));
  AddFill(program, Private(0, 8));
  AddCopy(program, Host(0, 8), Private(128, 8));
  AddFill(program, Private(64, 8));
  AddCopy(program, Private(128, 8), Private(192, 8));
  const Built built(program);
  const StreamPlan plan = PlanStreams(*built);
  EXPECT_EQ(plan.streams(), 4u);
  EXPECT_THAT(CheckStreams(*built, plan), IsEmpty());
  std::vector<uint32_t> streams;
  for (const StreamAction& action : plan.blocks[0])
    if (action.kind == ActionKind::kRun) streams.push_back(action.stream);
  EXPECT_THAT(streams, ::testing::ElementsAre(1, plan.to_host(), 0, 0, plan.from_host(), 0, 0));
  // Fork, the fill over x, the copy back, and its reader; the copies in one direction follow each other.
  size_t found = 0;
  std::vector<bool> has_forked(plan.streams());
  for (size_t i = 0; i < plan.blocks[0].size(); ++i) {
    const StreamAction& action = plan.blocks[0][i];
    if (action.kind != ActionKind::kWait) continue;
    if (action.stream != StreamPlan::kCompute && !has_forked[action.stream]) {
      has_forked[action.stream] = true;
      continue;
    }
    EXPECT_THAT(CheckStreams(*built, Without(plan, 0, i)), Not(IsEmpty())) << "action " << i;
    ++found;
  }
  EXPECT_GE(found, 3u);
  EXPECT_THAT(CheckStreams(*built, Without(plan, 0, plan.blocks[0].size() - 1)), Not(IsEmpty()));
}

// Random programs over a few bytes: windows that are gathered on two communicators, copies between, loops around some.
ProgramT RandomProgram(uint32_t seed, bool has_loops) {
  std::mt19937 random(seed);
  ProgramT program = Empty();
  AddInput(program, Window(0, 256));
  AddInput(program, Private(0, 256));
  const auto slice = [&](Space space) { return Slice{space, random() % 28 * 8, 8}; };
  for (int i = 0; i < 14; ++i) {
    if (has_loops && random() % 5 == 0) {
      AddLoop(program, 1 + random() % 3, 2);
      AddGather(program, slice(Space::Window), slice(Space::Window), static_cast<uint32_t>(random() % 2), false);
      AddCopy(program, slice(Space::Window), slice(Space::Private));
    } else if (random() % 2 == 0) {
      AddGather(program, slice(Space::Window), slice(Space::Window), static_cast<uint32_t>(random() % 2), false);
    } else {
      const bool to_window = random() % 2 == 0;
      AddCopy(program, slice(to_window ? Space::Private : Space::Window),
              slice(to_window ? Space::Window : Space::Private));
    }
  }
  return program;
}

// The same with copies to and from the host between, in loops too.
TEST(StreamPlan, RandomProgramsWithHostCopies) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    ProgramT program = RandomProgram(seed, seed % 2 == 0);
    AddInput(program, Host(0, 256));
    std::mt19937 random(seed);
    const auto slice = [&](Space space) { return Slice{space, random() % 28 * 8, 8}; };
    for (auto& instruction : program.instructions) {
      artifact::CopyT* copy = instruction->op.AsCopy();
      if (copy == nullptr || random() % 2 == 0) continue;
      *(random() % 2 == 0 ? copy->source : copy->target) = slice(Space::Host);
    }
    const Built built(program);
    const StreamPlan plan = PlanStreams(*built);
    EXPECT_EQ(plan.streams(), plan.communicators.size() + 1 + (plan.copies_to_host ? 2 : 0));
    EXPECT_THAT(CheckStreams(*built, plan), IsEmpty());
    EXPECT_THAT(CheckStreams(*built, PlanHostThreads(*built)), IsEmpty());
  }
}

TEST(StreamPlan, RandomProgramsWithLoops) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Built program(RandomProgram(seed, true));
    EXPECT_THAT(CheckStreams(*program, PlanStreams(*program)), IsEmpty());
    EXPECT_THAT(CheckStreams(*program, PlanHostThreads(*program)), IsEmpty());
  }
}

TEST(StreamPlan, EveryWaitIsNeeded) {
  size_t waits = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Built program(RandomProgram(seed, false));
    const StreamPlan plan = PlanStreams(*program);
    ASSERT_THAT(CheckStreams(*program, plan), IsEmpty());
    EXPECT_EQ(CountActions(plan, ActionKind::kRecord), plan.events);
    // A stream's first wait is the fork, which orders it behind the step before.
    std::vector<bool> has_forked(plan.streams());
    has_forked[StreamPlan::kCompute] = true;
    for (size_t i = 0; i < plan.blocks[0].size(); ++i) {
      const StreamAction& action = plan.blocks[0][i];
      if (action.kind != ActionKind::kWait) continue;
      if (!has_forked[action.stream]) {
        has_forked[action.stream] = true;
        continue;
      }
      EXPECT_THAT(CheckStreams(*program, Without(plan, 0, i)), Not(IsEmpty())) << "action " << i;
      ++waits;
    }
  }
  EXPECT_GT(waits, 500u);
}

}  // namespace
}  // namespace sgd::device
