// Each rule of tiles refuses its violation.
#include "runtime/artifact/verify.h"
#include "tests/runtime/artifact/violations.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

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
  root.kernels[1]->least_bytes = {64}, root.kernels[1]->range = 8;
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

TEST(VerifyTiled, RefusesEachViolation) {
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
       "operand 0: its slice: 64 bytes at 4096 are outside"},
      {"operand in scratch", [](TiledT& t) { t.operands[0]->slice = testing::SliceAt(Space::Scratch, 0, 64); },
       "operand 0: its slice: 64 bytes at 0 are outside"},
      {"operand strides", [](TiledT& t) { t.operands[0]->strides = {}; }, "operand 0: it has not one stride per loop"},
      {"stride leads out", [](TiledT& t) { t.operands[0]->strides = {128}; }, "operand 0: its strides lead out"},
      {"stride wraps", [](TiledT& t) { t.operands[0]->strides = {UINT64_MAX}; }, "operand 0: its strides lead out"},
      {"scratch slice", [](TiledT& t) { t.scratch_bytes = 60; },
       "step 0: C: 64 bytes at 0 are outside of the Scratch space of 60 bytes"},
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
       "step 1: two tiles write to the same address"},
      {"same place", [](TiledT& t) { t.operands[2]->strides = {0}; }, "step 1: two tiles write to the same address"},
      {"launch at the same place", [](TiledT& t) { t.operands[2]->strides = {0}, t.steps.erase(t.steps.begin() + 1); },
       "step 1: two tiles write to the same address"},
      {"alignment of kernels", [](TiledT& t) { t.operands[2]->strides = {32}, t.steps.erase(t.steps.begin() + 1); },
       "not a multiple of 64 bytes"},
      {"bias", [](TiledT& t) { ProductIn(t, 0).bias = testing::SliceAt(Space::Private, 0, 64); },
       "step 0: an operand bias that no epilogue step needs"},
      {"workspace", [](TiledT& t) { ProductIn(t, 0).workspace = testing::SliceAt(Space::Private, 4032, 64); },
       "step 0: a workspace in a tile"},
      {"epilogue",
       [](TiledT& t) {
         ProductIn(t, 0).epilogue = {EpilogueStep::Bias},
                      ProductIn(t, 0).bias = testing::SliceAt(Space::Private, 0, 64);
       },
       "an epilogue that tiles do not have"},
      {"outputs", [](TiledT& t) { t.outputs = 4; }, "4 of 3 operands are outputs"},
      {"no output", [](TiledT& t) { t.outputs = 0; }, "step 1: operand 2, which is no output, is written"},
      {"launch without output", [](TiledT& t) { t.outputs = 0, t.steps.erase(t.steps.begin() + 1); },
       "step 1: operand 2, which is no output, is written"},
      {"small buffer", [](TiledT& t) { LaunchIn(t).buffers[0] = Slice(Space::Private, 1280, 60); },
       "step 2: buffer 0 has 60 bytes where kernel 'parts' needs 64"},
      {"range", [](TiledT& t) { LaunchIn(t).range = 9; }, "step 2: the range 9 is larger than the 8 of kernel 'parts'"},
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

}  // namespace
}  // namespace sgd::artifact
