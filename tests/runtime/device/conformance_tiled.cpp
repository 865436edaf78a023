// Tiles of any Device: parts of operands that move with the loops, scratch memory, sums over steps.
#include <numeric>

#include "runtime/artifact/reader.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/device/conformance.h"

namespace sgd::testing {
namespace {

using artifact::Slice;
using artifact::Space;

// Offsets in the arena of x [3, 16, 2, 8], w [16, 16] and y [3, 16, 2, 8].
constexpr uint64_t kX = 0, kW = 3072, kY = 4096, kBytes = 8192;
constexpr uint64_t kScratch = 16 * 8 * 4 + 64;

void AddOperand(artifact::TiledT& tiled, uint64_t offset, uint64_t size, std::vector<uint64_t> strides) {
  tiled.operands.push_back(std::make_unique<artifact::TileOperandT>());
  tiled.operands.back()->slice = SliceAt(Space::Private, offset, size);
  tiled.operands.back()->strides = std::move(strides);
}

// c [16, 8] = (or +=, with `add`) w a, where a has rows `a_k` apart and c rows `c_m` apart.
void AddProduct(artifact::TiledT& tiled, Slice a, int64_t a_k, Slice c, int64_t c_m, bool add,
                std::vector<int32_t> operands) {
  artifact::MatmulT product;
  product.element = artifact::ElementType::F32;
  product.m = product.k = 16;
  product.n = 8;
  product.a_m = 16, product.a_k = 1;
  product.b_k = a_k, product.b_n = 1;
  product.c_m = c_m, product.c_n = 1;
  product.a = SliceAt(Space::Private, kW, 1024);
  product.b = std::make_unique<Slice>(a);
  product.c = std::make_unique<Slice>(c);
  if (add) product.epilogue = {artifact::EpilogueStep::Residual};
  tiled.steps.push_back(std::make_unique<artifact::TileStepT>());
  tiled.steps.back()->op.Set(std::move(product));
  tiled.steps.back()->operands = std::move(operands);
}

// For each i and h: s = w x[i, :, h, :], y[i, :, h, :] = w s + w x[i, :, h, :].
artifact::TiledT MakeTiled() {
  artifact::TiledT tiled;
  tiled.loops = {3, 2};
  tiled.outputs = 1;
  tiled.scratch_bytes = kScratch;
  AddOperand(tiled, kW, 1024, {0, 0});
  AddOperand(tiled, kX, 3072, {1024, 32});
  AddOperand(tiled, kY, 3072, {1024, 32});
  const Slice x(Space::Private, kX, 992), y(Space::Private, kY, 992), s(Space::Scratch, 64, 512);
  AddProduct(tiled, x, 16, s, 8, false, {0, 1, -1});
  AddProduct(tiled, s, 8, y, 16, false, {0, -1, 2});
  AddProduct(tiled, x, 16, y, 16, true, {0, 1, 2});
  return tiled;
}

// w v for the columns of head `h` of v [16, 2, 8].
std::vector<float> Times(const std::vector<float>& w, const std::vector<float>& v) {
  std::vector<float> result(v.size());
  for (size_t row = 0; row < 16; ++row)
    for (size_t k = 0; k < 16; ++k)
      for (size_t j = 0; j < 16; ++j) result[row * 16 + j] += w[row * 16 + k] * v[k * 16 + j];
  return result;
}

TEST_P(DeviceConformance, TilesMoveWithTheLoops) {
  auto file = *artifact::ArtifactFile::FromBytes(SampleBytes(1), "sample");
  std::vector<float> x(3 * 16 * 16), w(16 * 16), expected;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3.0f;
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 5) - 2.0f;
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<float> part(x.begin() + static_cast<int64_t>(i * 256),
                                  x.begin() + static_cast<int64_t>(i * 256 + 256));
    const std::vector<float> once = Times(w, part), twice = Times(w, once);
    for (size_t j = 0; j < once.size(); ++j) expected.push_back(once[j] + twice[j]);
  }
  for (uint32_t threads : {1u, 2u, 3u}) {
    auto device = MakeDevice(threads);
    auto kernels = *device->LoadKernels(*file);
    TestArena arena(*device, kBytes);
    arena.Put(kX, x);
    arena.Put(kW, w);
    flatbuffers::FlatBufferBuilder builder;
    const artifact::TiledT tiled = MakeTiled();
    builder.Finish(artifact::Tiled::Pack(builder, &tiled));
    auto thunk =
        device->PrepareTiled(*flatbuffers::GetRoot<artifact::Tiled>(builder.GetBufferPointer()), *kernels, arena.map());
    ASSERT_TRUE(thunk.ok()) << thunk.status();
    builder.Clear();  // thunks keep no reference to the instruction
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE((*thunk)->Execute().ok());
      ASSERT_TRUE(device->Synchronize().ok());
      // Small integers: every order of additions gives them exactly.
      EXPECT_EQ(arena.Get<float>(kY, x.size()), expected);
    }
  }
}

TEST_P(DeviceConformance, TilesLaunchKernelsOverTheirWholeRange) {
  auto file = *artifact::ArtifactFile::FromBytes(SampleBytes(1), "sample");
  auto device = MakeDevice(2);
  auto kernels = *device->LoadKernels(*file);
  TestArena arena(*device, 1024);
  artifact::TiledT tiled;
  tiled.loops = {4};
  tiled.outputs = 1;
  AddOperand(tiled, 0, 1024, {256});
  artifact::LaunchT launch;
  launch.kernel = 1;
  launch.buffers = {Slice(Space::Private, 64, 192)};
  launch.range = 24;
  launch.grain = 8;
  launch.outputs = 1;
  tiled.steps.push_back(std::make_unique<artifact::TileStepT>());
  tiled.steps.back()->op.Set(std::move(launch));
  tiled.steps.back()->operands = {0};
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Tiled::Pack(builder, &tiled));
  auto thunk =
      device->PrepareTiled(*flatbuffers::GetRoot<artifact::Tiled>(builder.GetBufferPointer()), *kernels, arena.map());
  ASSERT_TRUE(thunk.ok()) << thunk.status();
  ASSERT_TRUE((*thunk)->Execute().ok());
  for (uint64_t tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(arena.Get<int64_t>(tile * 256, 8), std::vector<int64_t>(8, 0));
    EXPECT_EQ(arena.Get<int64_t>(tile * 256 + 64, 24), std::vector<int64_t>(24, 24));
  }
}

TEST_P(DeviceConformance, TilesOfBooleansAreRefused) {
  auto file = *artifact::ArtifactFile::FromBytes(SampleBytes(1), "sample");
  auto device = MakeDevice(1);
  auto kernels = *device->LoadKernels(*file);
  TestArena arena(*device, kBytes);
  artifact::TiledT tiled = MakeTiled();
  tiled.steps[0]->op.AsMatmul()->element = artifact::ElementType::Bool;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Tiled::Pack(builder, &tiled));
  auto thunk =
      device->PrepareTiled(*flatbuffers::GetRoot<artifact::Tiled>(builder.GetBufferPointer()), *kernels, arena.map());
  EXPECT_EQ(thunk.status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace sgd::testing
