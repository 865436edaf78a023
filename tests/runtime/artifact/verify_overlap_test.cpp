// Collectives in flight: what may be touched between start and end, and outputs of launches.
#include "runtime/artifact/verify.h"
#include "tests/runtime/artifact/violations.h"

namespace sgd::artifact {
namespace {

// Splits the sample's all-reduce, and ends it before instruction `end` of what was there before.
void Split(ProgramT& program, size_t end) {
  AllReduceIn(program).starts = true;
  auto done = std::make_unique<InstructionT>();
  DoneT operation;
  operation.start = kAllReduce;
  done->op.Set(std::move(operation));
  program.instructions.insert(program.instructions.begin() + static_cast<std::ptrdiff_t>(end), std::move(done));
}

// Moves the fill, which writes its own bytes alone, between start and end.
void MoveFillInside(ProgramT& program) { std::swap(program.instructions[kAllReduce + 1], program.instructions[kFill]); }

FillT& FillInside(ProgramT& program) { return *program.instructions[kAllReduce + 1]->op.AsFill(); }

std::vector<Violation> OverlapCases() {
  return {
      {"never done",
       [](ArtifactT&, ProgramT& p) {
         AllReduceIn(p).starts = true;
         p.instructions.resize(kAllReduce + 1);
       },
       "instruction 3 (all_reduce): is started and never done"},
      {"not started",
       [](ArtifactT&, ProgramT& p) {
         Split(p, 4);
         AllReduceIn(p).starts = false;
       },
       "instruction 4 (done): instruction 3 is no collective in flight"},
      {"done twice",
       [](ArtifactT&, ProgramT& p) {
         Split(p, 4);
         p.instructions.push_back(std::make_unique<InstructionT>(*p.instructions[4]));
       },
       "instruction 8 (done): instruction 3 is no collective in flight"},
      {"done too early", [](ArtifactT&, ProgramT& p) { Split(p, 2); }, "instruction 2 (done)"},
      {"reads a target", [](ArtifactT&, ProgramT& p) { Split(p, 5); },
       "instruction 4 (copy): touches a target of instruction 3, which is in flight"},
      {"writes a target",
       [](ArtifactT&, ProgramT& p) {
         MoveFillInside(p);
         FillInside(p).target = testing::SliceAt(Space::Window, 252, 4);
         Split(p, 5);
       },
       "instruction 4 (fill): touches a target of instruction 3, which is in flight"},
      {"writes a source",
       [](ArtifactT& a, ProgramT& p) {
         a.window_bytes = 1024;
         AllReduceIn(p).operands[0]->target = testing::SliceAt(Space::Window, 512, 256);
         MoveFillInside(p);
         FillInside(p).target = testing::SliceAt(Space::Window, 0, 4);
         Split(p, 5);
       },
       "instruction 4 (fill): writes a source of instruction 3, which is in flight"},
      {"a second one on the same target",
       [](ArtifactT&, ProgramT& p) {
         p.instructions.insert(p.instructions.begin() + 4, std::make_unique<InstructionT>(*p.instructions[kAllReduce]));
         Split(p, 5);
       },
       "instruction 4 (all_reduce): touches a target of instruction 3"},
      {"a launch",
       [](ArtifactT&, ProgramT& p) {
         auto launch = std::make_unique<InstructionT>(*p.instructions[kLaunch]);
         launch->op.AsLaunch()->buffers[0] = Slice(Space::Window, 0, 256);
         p.instructions.insert(p.instructions.begin() + 4, std::move(launch));
         Split(p, 5);
       },
       "instruction 4 (launch): touches a target of instruction 3"},
      {"outputs of a launch", [](ArtifactT&, ProgramT& p) { LaunchIn(p).outputs = 3; },
       "2 buffers with 3 outputs where kernel 'scale' takes 2 with 1"},
      {"no outputs of a launch", [](ArtifactT&, ProgramT& p) { LaunchIn(p).outputs = 0; },
       "2 buffers with 0 outputs where kernel 'scale' takes 2 with 1"},
  };
}

TEST(VerifyOverlap, RefusesEachViolation) { ExpectRefused(OverlapCases()); }

TEST(VerifyOverlap, AcceptsACollectiveUnderWay) {
  EXPECT_EQ(ErrorAfter([](ArtifactT&, ProgramT& p) {
              MoveFillInside(p);
              Split(p, 5);
            }),
            "");
  // A source may be read.
  EXPECT_EQ(ErrorAfter([](ArtifactT& a, ProgramT& p) {
              a.window_bytes = 1024;
              AllReduceIn(p).operands[0]->target = testing::SliceAt(Space::Window, 512, 256);
              Split(p, p.instructions.size());
            }),
            "");
}

}  // namespace
}  // namespace sgd::artifact
