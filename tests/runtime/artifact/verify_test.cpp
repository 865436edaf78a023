// Each semantic rule refuses its violation, with a message that says what and where.
#include "runtime/artifact/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "runtime/artifact/writer.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

// The message for the sample after a change; empty when it is still accepted.
std::string ErrorAfter(const std::function<void(ArtifactT&, ProgramT&)>& change) {
  ArtifactWriter writer;
  testing::FillSample(writer, 2);
  change(writer.artifact(), *writer.artifact().programs[0]);
  return std::string(writer.Serialize().status().message());
}

constexpr size_t kMatmul = 0, kLaunch = 1, kCopy = 2, kAllReduce = 3, kFill = 6;

MatmulT& MatmulIn(ProgramT& program) { return *program.instructions[kMatmul]->op.AsMatmul(); }
LaunchT& LaunchIn(ProgramT& program) { return *program.instructions[kLaunch]->op.AsLaunch(); }
CopyT& CopyIn(ProgramT& program) { return *program.instructions[kCopy]->op.AsCopy(); }
CollectiveT& AllReduceIn(ProgramT& program) { return *program.instructions[kAllReduce]->op.AsCollective(); }
FillT& FillIn(ProgramT& program) { return *program.instructions[kFill]->op.AsFill(); }

// Makes a group of the launch and a copy of it.
LaunchGroupT& GroupIn(ProgramT& program) {
  LaunchGroupT group;
  for (int i = 0; i < 2; ++i) group.launches.push_back(std::make_unique<LaunchT>(LaunchIn(program)));
  program.instructions[kLaunch]->op.Set(std::move(group));
  return *program.instructions[kLaunch]->op.AsLaunchGroup();
}

struct Case {
  const char* name;
  std::function<void(ArtifactT&, ProgramT&)> change;
  const char* message;
};

std::vector<Case> RootCases() {
  return {
      {"axis twice", [](ArtifactT& a, ProgramT&) { a.mesh.push_back(std::make_unique<MeshAxisT>(*a.mesh[0])); },
       "mesh axis name 'data' is empty or repeated"},
      {"empty axis", [](ArtifactT& a, ProgramT&) { a.mesh[0]->size = 0; }, "mesh axis 0 has size 0"},
      {"huge mesh", [](ArtifactT& a, ProgramT&) { a.mesh[0]->size = 1u << 30; }, "ranks"},
      {"huge arena", [](ArtifactT& a, ProgramT&) { a.private_bytes = uint64_t{1} << 60; }, "larger than 2^46"},
      {"no program", [](ArtifactT& a, ProgramT&) { a.programs.clear(); }, "holds no program"},
      {"program name", [](ArtifactT&, ProgramT& p) { p.name.clear(); }, "program '': the name is empty or used twice"},
      {"missing kernel", [](ArtifactT& a, ProgramT&) { a.kernels[1]->symbol = "gelu"; },
       "does not define the function 'gelu'"},
      {"line break", [](ArtifactT& a, ProgramT&) { a.kernels[1]->symbol = "a\nb"; }, "'a\\nb'"},
  };
}

std::vector<Case> TensorCases() {
  return {
      {"input name", [](ArtifactT&, ProgramT& p) { p.inputs[1]->name = "x"; }, "input 1 'x': the name is used twice"},
      {"element", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->element = static_cast<ElementType>(99); },
       "input 0 'x': unknown element type"},
      {"local rank", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->local_dims.pop_back(); }, "number of dimensions"},
      {"local size", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->local_dims[0] = 3; },
       "dimension 0 of size 8 over 2 shards has local size 3 where 4 is expected"},
      {"sharding length", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->sharding.pop_back(); },
       "one entry per dimension"},
      {"unknown axis", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->sharding[0]->axes[0] = AxisRef(3, 1, 2); },
       "axis 3"},
      {"axis twice", [](ArtifactT&, ProgramT& p) { p.inputs[0]->type->sharding[1]->axes = {AxisRef(0, 1, 2)}; },
       "overlap"},
      {"overflow",
       [](ArtifactT&, ProgramT& p) {
         p.inputs[1]->type->global_dims = p.inputs[1]->type->local_dims = {uint64_t{1} << 40, uint64_t{1} << 40};
       },
       "more than 2^62 bytes"},
      {"slice outside",
       [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Private, 1920, 128); },
       "128 bytes at 1920 lie outside of the Private space of 1984 bytes"},
      {"slice wraps",
       [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Private, UINT64_MAX - 63, 128); },
       "outside of the Private space"},
      {"slice small", [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Private, 0, 64); },
       "a shard of 128 bytes does not fit in a slice of 64"},
      {"slice odd", [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Private, 2, 128); },
       "not aligned"},
      {"slice space",
       [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(static_cast<Space>(7), 0, 128); },
       "unknown space"},
      {"constant input",
       [](ArtifactT&, ProgramT& p) { p.inputs[0]->slice = testing::SliceAt(Space::Constant, 0, 128); }, "read-only"},
      {"carry index", [](ArtifactT&, ProgramT& p) { p.outputs[1]->carry_input = 9; },
       "output 1 'new_w': carries into input 9 of 2"},
      {"carry type", [](ArtifactT&, ProgramT& p) { p.outputs[1]->carry_input = 0; }, "of another type or shape"},
      {"carry twice", [](ArtifactT&, ProgramT& p) { p.outputs.push_back(std::make_unique<OutputT>(*p.outputs[1])); },
       "a second output carries into input 1"},
      {"missing slice", [](ArtifactT&, ProgramT& p) { p.outputs[1]->slice = nullptr; }, "lacks a required field"},
  };
}

std::vector<Case> OperationCases() {
  return {
      {"location", [](ArtifactT&, ProgramT& p) { p.instructions[1]->loc = 5; },
       "instruction 1 (launch): location 5 of 2"},
      {"kernel", [](ArtifactT&, ProgramT& p) { LaunchIn(p).kernel = 2; },
       "instruction 1 (launch): kernel 2 does not exist (there are 2)"},
      {"grain", [](ArtifactT&, ProgramT& p) { LaunchIn(p).grain = 0; }, "grain"},
      {"empty group", [](ArtifactT&, ProgramT& p) { GroupIn(p).launches.clear(); }, "the group has no launches"},
      {"dependent group", [](ArtifactT&, ProgramT& p) { GroupIn(p); },
       "(launch_group): a launch of the group writes what another one touches"},
      {"reader in a group",
       [](ArtifactT&, ProgramT& p) {
         LaunchGroupT& group = GroupIn(p);
         std::swap(group.launches[1]->buffers[0], group.launches[1]->buffers[1]);
       },
       "a launch of the group writes what another one touches"},
      {"grain in a group", [](ArtifactT&, ProgramT& p) { GroupIn(p).launches[1]->grain = 0; },
       "launch 1: the grain must be"},
      {"kernel in a group", [](ArtifactT&, ProgramT& p) { GroupIn(p).launches[0]->kernel = 9; },
       "launch 0: kernel 9 does not exist"},
      {"buffer in a group",
       [](ArtifactT&, ProgramT& p) { GroupIn(p).launches[1]->buffers[1] = Slice(Space::Window, 0, 257); },
       "launch 1: buffer 1"},
      {"range", [](ArtifactT&, ProgramT& p) { LaunchIn(p).range = UINT64_MAX; }, "range"},
      {"buffer", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers[1] = Slice(Space::Window, 0, 257); },
       "buffer 1: 257 bytes at 0"},
      {"unaligned buffer", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers[1] = Slice(Space::Private, 900, 256); },
       "buffer 1 is not aligned to 64 bytes"},
      {"constant output", [](ArtifactT&, ProgramT& p) { LaunchIn(p).buffers[1] = Slice(Space::Constant, 0, 256); },
       "output buffer 1 lies in the constants, which are read-only"},
      {"coordinate", [](ArtifactT&, ProgramT& p) { LaunchIn(p).coordinates[0]->axes = {AxisRef(0, 2, 2)}; },
       "coordinate: "},
      {"a extent", [](ArtifactT&, ProgramT& p) { MatmulIn(p).a_m = 9; },
       "instruction 0 (matmul): A reaches 35 elements of f32 in a slice of 128 bytes"},
      {"negative", [](ArtifactT&, ProgramT& p) { MatmulIn(p).b_n = -1; }, "B has a negative stride"},
      {"overflow", [](ArtifactT&, ProgramT& p) { MatmulIn(p).b_n = INT64_MAX; }, "B has more than 2^48 elements"},
      {"huge m", [](ArtifactT&, ProgramT& p) { MatmulIn(p).m = UINT64_MAX; }, "a dimension is larger than 2^48"},
      {"c shared", [](ArtifactT&, ProgramT& p) { MatmulIn(p).c_m = 8; }, "let two elements share one place"},
      {"c constant", [](ArtifactT&, ProgramT& p) { MatmulIn(p).c = testing::SliceAt(Space::Constant, 0, 512); },
       "read-only"},
      {"c overlaps", [](ArtifactT&, ProgramT& p) { MatmulIn(p).c = testing::SliceAt(Space::Private, 64, 256); },
       "C overlaps A or B"},
      {"batch length", [](ArtifactT&, ProgramT& p) { MatmulIn(p).batch_dims = {1}; },
       "batch dimensions and batch strides"},
      {"no bias", [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = Epilogue::Bias; }, "bias is missing"},
      {"epilogue", [](ArtifactT&, ProgramT& p) { MatmulIn(p).epilogue = static_cast<Epilogue>(9); },
       "unknown epilogue"},
      {"workspace", [](ArtifactT&, ProgramT& p) { MatmulIn(p).workspace = testing::SliceAt(Space::Private, 0, 64); },
       "the workspace overlaps an operand"},
      {"copy size", [](ArtifactT&, ProgramT& p) { CopyIn(p).source = testing::SliceAt(Space::Private, 0, 255); },
       "instruction 2 (copy): the source is smaller than the target"},
      {"copy overlap", [](ArtifactT&, ProgramT& p) { CopyIn(p).source = testing::SliceAt(Space::Window, 0, 256); },
       "overlap"},
      {"copy to constants",
       [](ArtifactT&, ProgramT& p) { CopyIn(p).target = testing::SliceAt(Space::Constant, 0, 256); },
       "target lies in the constants, which are read-only"},
      {"fill pattern", [](ArtifactT&, ProgramT& p) { FillIn(p).pattern.clear(); },
       "instruction 6 (fill): a pattern of 0 bytes"},
      {"fill size", [](ArtifactT&, ProgramT& p) { FillIn(p).pattern = {1, 2, 3}; }, "not a whole number of patterns"},
      {"collective kind", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).kind = static_cast<CollectiveKind>(9); },
       "unknown kind of collective"},
      {"collective reduce", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).reduce = static_cast<ReduceKind>(9); },
       "unknown kind of reduction"},
      {"collective axes", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).axes = {AxisRef(0, 1, 3)}; },
       "instruction 3 (all_reduce): "},
      {"collective space",
       [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands[0]->source = testing::SliceAt(Space::Private, 0, 256); },
       "the source of operand 0 is not in the window"},
      {"collective count", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands[0]->count = 65; },
       "reaches 65 elements"},
      {"no operands", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands.clear(); }, "without operands"},
      {"scatter", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).kind = CollectiveKind::ReduceScatter; },
       "instruction 3 (reduce_scatter)"},
      {"permute", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).kind = CollectiveKind::Permute; },
       "source axes of a permute"},
      {"no operation", [](ArtifactT&, ProgramT& p) { p.instructions[0]->op.Reset(); }, "lacks a required field"},
  };
}

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

std::vector<Case> OverlapCases() {
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
       "instruction 4 (done): instruction 3 is no collective under way"},
      {"done twice",
       [](ArtifactT&, ProgramT& p) {
         Split(p, 4);
         p.instructions.push_back(std::make_unique<InstructionT>(*p.instructions[4]));
       },
       "instruction 8 (done): instruction 3 is no collective under way"},
      {"done too early", [](ArtifactT&, ProgramT& p) { Split(p, 2); }, "instruction 2 (done)"},
      {"reads a target", [](ArtifactT&, ProgramT& p) { Split(p, 5); },
       "instruction 4 (copy): touches a target of instruction 3, which is under way"},
      {"writes a target",
       [](ArtifactT&, ProgramT& p) {
         MoveFillInside(p);
         FillInside(p).target = testing::SliceAt(Space::Window, 252, 4);
         Split(p, 5);
       },
       "instruction 4 (fill): touches a target of instruction 3, which is under way"},
      {"writes a source",
       [](ArtifactT& a, ProgramT& p) {
         a.window_bytes = 1024;
         AllReduceIn(p).operands[0]->target = testing::SliceAt(Space::Window, 512, 256);
         MoveFillInside(p);
         FillInside(p).target = testing::SliceAt(Space::Window, 0, 4);
         Split(p, 5);
       },
       "instruction 4 (fill): writes a source of instruction 3, which is under way"},
      {"a second one on the same target",
       [](ArtifactT&, ProgramT& p) {
         p.instructions.insert(p.instructions.begin() + 4, std::make_unique<InstructionT>(*p.instructions[kAllReduce]));
         Split(p, 5);
       },
       "instruction 4 (all_reduce): touches a target of instruction 3"},
      {"a launch",
       [](ArtifactT&, ProgramT& p) {
         auto launch = std::make_unique<InstructionT>(*p.instructions[kLaunch]);
         launch->op.AsLaunch()->buffers[0] = Slice(Space::Window, 128, 64);
         p.instructions.insert(p.instructions.begin() + 4, std::move(launch));
         Split(p, 5);
       },
       "instruction 4 (launch): touches a target of instruction 3"},
      {"outputs of a launch", [](ArtifactT&, ProgramT& p) { LaunchIn(p).outputs = 3; }, "3 of 2 buffers are outputs"},
      {"no outputs of a launch", [](ArtifactT&, ProgramT& p) { LaunchIn(p).outputs = 0; },
       "0 of 2 buffers are outputs"},
  };
}

TEST(Verify, AcceptsACollectiveUnderWay) {
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

TEST(Verify, AcceptsTheSample) {
  EXPECT_EQ(ErrorAfter([](ArtifactT&, ProgramT&) {}), "");
}

TEST(Verify, RefusesEachViolation) {
  for (const std::vector<Case>& cases : {RootCases(), TensorCases(), OperationCases(), OverlapCases()}) {
    for (const Case& c : cases) EXPECT_THAT(ErrorAfter(c.change), HasSubstr(c.message)) << c.name;
  }
}

TEST(Verify, EmptyMatmulsNeedNoStorage) {
  EXPECT_EQ(ErrorAfter([](ArtifactT&, ProgramT& p) {
              MatmulIn(p).k = 0;
              MatmulIn(p).a = testing::SliceAt(Space::Private, 0, 0);
              MatmulIn(p).b = testing::SliceAt(Space::Private, 0, 0);
            }),
            "");
}

}  // namespace
}  // namespace sgd::artifact
