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

// Makes a shift by one element of the all-reduce.
TileRangeT& RangeIn(ProgramT& program) {
  CollectiveT& collective = AllReduceIn(program);
  collective.kind = CollectiveKind::GatherRange;
  CollectiveOperandT& operand = *collective.operands[0];
  operand.source = testing::SliceAt(Space::Window, 0, 128);
  operand.target = testing::SliceAt(Space::Window, 128, 128);
  operand.count = 32;
  operand.inner = 1;
  operand.range = std::make_unique<TileRangeT>();
  operand.range->size = operand.range->tile = operand.range->length = 32;
  operand.range->scale = 32;
  operand.range->offset = 1;
  return *operand.range;
}

// Makes a group of the launch and a copy of it.
LaunchGroupT& GroupIn(ProgramT& program) {
  LaunchGroupT group;
  for (int i = 0; i < 2; ++i) group.launches.push_back(std::make_unique<LaunchT>(LaunchIn(program)));
  program.instructions[kLaunch]->op.Set(std::move(group));
  return *program.instructions[kLaunch]->op.AsLaunchGroup();
}

// The launches of such a group as one launch of kernel 0.
CombinedLaunchesT& CombinedIn(ProgramT& program) {
  LaunchGroupT& group = GroupIn(program);
  group.combined.push_back(std::make_unique<CombinedLaunchesT>());
  return *group.combined.back();
}

struct Violation {
  const char* name;
  std::function<void(ArtifactT&, ProgramT&)> change;
  const char* message;
};

std::vector<Violation> RootCases() {
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

std::vector<Violation> TensorCases() {
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

std::vector<Violation> OperationCases() {
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
      {"combined kernel", [](ArtifactT&, ProgramT& p) { CombinedIn(p).kernel = 7; },
       "combined kernel 7 does not exist (there are 2)"},
      {"combined launch", [](ArtifactT&, ProgramT& p) { CombinedIn(p).launches = {0, 2}; },
       "launch 2 of 2 is combined twice or does not exist"},
      {"launch combined twice", [](ArtifactT&, ProgramT& p) { CombinedIn(p).launches = {1, 0, 1}; },
       "launch 1 of 2 is combined twice or does not exist"},
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
      {"activation", [](ArtifactT&, ProgramT& p) { MatmulIn(p).activation = static_cast<Activation>(9); },
       "unknown activation"},
      {"no aux", [](ArtifactT&, ProgramT& p) { MatmulIn(p).activation = Activation::GeluGradient; }, "aux is missing"},
      {"aux alone", [](ArtifactT&, ProgramT& p) { MatmulIn(p).aux = testing::SliceAt(Space::Private, 0, 256); },
       "aux without an activation"},
      {"activation of a sum",
       [](ArtifactT&, ProgramT& p) {
         MatmulIn(p).activation = Activation::Gelu, MatmulIn(p).epilogue = Epilogue::Accumulate;
       },
       "an activation goes with no epilogue but a bias"},
      {"aux overlaps",
       [](ArtifactT&, ProgramT& p) {
         MatmulIn(p).activation = Activation::Gelu, MatmulIn(p).aux = testing::SliceAt(Space::Private, 64, 256);
       },
       "aux overlaps another operand"},
      {"tf32 of bf16",
       [](ArtifactT&, ProgramT& p) { MatmulIn(p).element = ElementType::BF16, MatmulIn(p).allows_tf32 = true; },
       "TF32 is for f32 alone"},
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
      {"range kind", [](ArtifactT&, ProgramT& p) { AllReduceIn(p).kind = CollectiveKind::GatherRange; },
       "an operand has a range exactly when ranges are gathered"},
      {"range of an all-reduce",
       [](ArtifactT&, ProgramT& p) { AllReduceIn(p).operands[0]->range = std::make_unique<TileRangeT>(); },
       "an operand has a range exactly when ranges are gathered"},
      {"range divisor", [](ArtifactT&, ProgramT& p) { RangeIn(p).divisor = 0; }, "a divisor or a step of zero"},
      {"range tiles", [](ArtifactT&, ProgramT& p) { RangeIn(p).size = 1 << 20; }, "do not hold 1048576"},
      {"range number", [](ArtifactT&, ProgramT& p) { RangeIn(p).step = uint64_t{1} << 60; }, "larger than 2^48"},
      {"range scale", [](ArtifactT&, ProgramT& p) { RangeIn(p).scale = INT64_MIN; }, "beyond 2^62"},
      {"range count", [](ArtifactT&, ProgramT& p) { RangeIn(p).tile = 64; }, "its dimensions say 64"},
      {"range target", [](ArtifactT&, ProgramT& p) { RangeIn(p).length = 1 << 20; }, "the target of operand 0"},
      {"range axes",
       [](ArtifactT&, ProgramT& p) {
         RangeIn(p);
         AllReduceIn(p).to_axes = {AxisRef(0, 1, 3)};
       },
       "instruction 3 (gather_range)"},
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
  for (const std::vector<Violation>& cases : {RootCases(), TensorCases(), OperationCases(), OverlapCases()}) {
    for (const Violation& c : cases) EXPECT_THAT(ErrorAfter(c.change), HasSubstr(c.message)) << c.name;
  }
}

// Per tile: scratch = x w over a row of x, then the row of y = scratch w'; x is [4, 16], w [16, 16], y [4, 16].
void AddTiled(ArtifactT& root, ProgramT& program) {
  root.private_bytes = 4096;
  TiledT tiled;
  tiled.loops = {4};
  tiled.outputs = 1;
  tiled.scratch_bytes = 64;
  const auto add_operand = [&](uint64_t offset, uint64_t size, uint64_t stride) {
    tiled.operands.push_back(std::make_unique<TileOperandT>());
    tiled.operands.back()->slice = testing::SliceAt(Space::Private, offset, size);
    tiled.operands.back()->strides = {stride};
  };
  add_operand(0, 256, 64);
  add_operand(256, 1024, 0);
  add_operand(1280, 256, 64);
  const auto add_product = [&](Slice a, Slice c, std::vector<int32_t> operands) {
    MatmulT product;
    product.element = ElementType::F32;
    product.m = 1, product.n = product.k = 16;
    product.a_m = product.b_k = product.c_m = 16;
    product.a_k = product.b_n = product.c_n = 1;
    product.a = std::make_unique<Slice>(a);
    product.b = testing::SliceAt(Space::Private, 256, 1024);
    product.c = std::make_unique<Slice>(c);
    tiled.steps.push_back(std::make_unique<TileStepT>());
    tiled.steps.back()->op.Set(std::move(product));
    tiled.steps.back()->operands = std::move(operands);
  };
  add_product(Slice(Space::Private, 0, 64), Slice(Space::Scratch, 0, 64), {0, 1, -1});
  add_product(Slice(Space::Scratch, 0, 64), Slice(Space::Private, 1280, 64), {-1, 1, 2});
  LaunchT launch;
  launch.kernel = 1;
  launch.buffers = {Slice(Space::Private, 1280, 64)};
  launch.range = launch.grain = 8;
  launch.outputs = 1;
  tiled.steps.push_back(std::make_unique<TileStepT>());
  tiled.steps.back()->op.Set(std::move(launch));
  tiled.steps.back()->operands = {2};
  testing::Append(program, std::move(tiled));
}

struct TiledCase {
  const char* name;
  std::function<void(TiledT&)> change;
  const char* message;
};

MatmulT& ProductIn(TiledT& tiled, size_t step) { return *tiled.steps[step]->op.AsMatmul(); }
LaunchT& LaunchIn(TiledT& tiled) { return *tiled.steps[2]->op.AsLaunch(); }

TEST(Verify, Tiled) {
  const std::vector<TiledCase> cases = {
      {"unchanged", [](TiledT&) {}, ""},
      {"no loops",
       [](TiledT& t) {
         t.loops = {}, t.operands[0]->strides = {}, t.operands[1]->strides = {}, t.operands[2]->strides = {};
       },
       ""},
      {"empty loop", [](TiledT& t) { t.loops = {0}; }, "(tiled): not 1 to 65535 tiles"},
      {"many tiles", [](TiledT& t) { t.loops = {65536}; }, "not 1 to 65535 tiles"},
      {"many loops", [](TiledT& t) { t.loops.assign(9, 1); }, "more than 8 loops"},
      {"scratch size", [](TiledT& t) { t.scratch_bytes = UINT64_MAX; }, "more than 2^30 bytes of scratch"},
      {"operand outside", [](TiledT& t) { t.operands[0]->slice = testing::SliceAt(Space::Private, 4096, 64); },
       "operand 0: its slice: 64 bytes at 4096 lie outside"},
      {"operand in scratch", [](TiledT& t) { t.operands[0]->slice = testing::SliceAt(Space::Scratch, 0, 64); },
       "operand 0: its slice: 64 bytes at 0 lie outside"},
      {"operand strides", [](TiledT& t) { t.operands[0]->strides = {}; }, "operand 0: it has not one stride per loop"},
      {"stride leads out", [](TiledT& t) { t.operands[0]->strides = {128}; }, "operand 0: its strides lead out"},
      {"stride wraps", [](TiledT& t) { t.operands[0]->strides = {UINT64_MAX}; }, "operand 0: its strides lead out"},
      {"scratch slice", [](TiledT& t) { t.scratch_bytes = 60; },
       "step 0: C: 64 bytes at 0 lie outside of the Scratch space of 60 bytes"},
      {"step operands", [](TiledT& t) { t.steps[0]->operands.pop_back(); }, "step 0: it has not one operand number"},
      {"unknown operand", [](TiledT& t) { t.steps[0]->operands[0] = 3; },
       "step 0: slice 0: it is part of operand 3 of 3"},
      {"negative operand", [](TiledT& t) { t.steps[0]->operands[0] = -2; }, "it is part of operand -2 of 3"},
      {"not scratch", [](TiledT& t) { t.steps[0]->operands[0] = -1; }, "it has no operand and is no scratch memory"},
      {"scratch of operand", [](TiledT& t) { t.steps[0]->operands[2] = 0; }, "slice 2: it leaves operand 0"},
      {"leaves before", [](TiledT& t) { t.steps[1]->operands[2] = 1; }, "slice 2: it leaves operand 1"},
      {"leaves at the end", [](TiledT& t) { ProductIn(t, 0).a = testing::SliceAt(Space::Private, 4, 64); },
       "step 0: slice 0: it leaves operand 0"},
      {"unaligned product", [](TiledT& t) { t.operands[0]->strides = {62}; }, "not a multiple of 4 bytes"},
      {"unaligned launch", [](TiledT& t) { t.operands[2]->strides = {32}; },
       "step 1: two tiles write to the same place"},
      {"same place", [](TiledT& t) { t.operands[2]->strides = {0}; }, "step 1: two tiles write to the same place"},
      {"launch at the same place", [](TiledT& t) { t.operands[2]->strides = {0}, t.steps.erase(t.steps.begin() + 1); },
       "step 1: two tiles write to the same place"},
      {"alignment of kernels", [](TiledT& t) { t.operands[2]->strides = {32}, t.steps.erase(t.steps.begin() + 1); },
       "not a multiple of 64 bytes"},
      {"bias", [](TiledT& t) { ProductIn(t, 0).bias = testing::SliceAt(Space::Private, 0, 64); },
       "a bias or workspace"},
      {"epilogue",
       [](TiledT& t) {
         ProductIn(t, 0).epilogue = Epilogue::Bias, ProductIn(t, 0).bias = testing::SliceAt(Space::Private, 0, 64);
       },
       "an epilogue that tiles do not have"},
      {"outputs", [](TiledT& t) { t.outputs = 4; }, "4 of 3 operands are outputs"},
      {"no output", [](TiledT& t) { t.outputs = 0; }, "step 1: operand 2, which is no output, is written"},
      {"launch without output", [](TiledT& t) { t.outputs = 0, t.steps.erase(t.steps.begin() + 1); },
       "step 1: operand 2, which is no output, is written"},
      {"kernel", [](TiledT& t) { LaunchIn(t).kernel = 7; }, "step 2: kernel 7 does not exist"},
      {"coordinates", [](TiledT& t) { LaunchIn(t).coordinates.push_back(std::make_unique<CoordinateT>()); },
       "step 2: coordinates in a tile"},
  };
  for (const TiledCase& test : cases) {
    SCOPED_TRACE(test.name);
    const std::string error = ErrorAfter([&](ArtifactT& root, ProgramT& program) {
      AddTiled(root, program);
      test.change(*program.instructions.back()->op.AsTiled());
    });
    if (*test.message == 0) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_THAT(error, HasSubstr(test.message));
    }
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
