// Memory, launches, copies and fills of any Device.
#include <numeric>

#include "runtime/artifact/reader.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/device/conformance.h"

namespace sgd::testing {
namespace {

using artifact::Slice;
using artifact::Space;

// The packed form of an operation, which prepared thunks must not refer to.
template <typename Operation, typename OperationT>
class Packed {
 public:
  explicit Packed(const OperationT& operation) { builder_.Finish(Operation::Pack(builder_, &operation)); }
  const Operation& operator*() const { return *flatbuffers::GetRoot<Operation>(builder_.GetBufferPointer()); }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

void Execute(device::PreparedThunk thunk, device::Device& device) {
  ASSERT_TRUE(thunk.ok()) << thunk.status();
  ASSERT_TRUE((*thunk)->Execute().ok());
  ASSERT_TRUE(device.Synchronize().ok());
}

TEST_P(DeviceConformance, ArenasAreZeroedAndAligned) {
  auto device = MakeDevice(1);
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{100}, uint64_t{5} << 20}) {
    absl::StatusOr<std::unique_ptr<device::Arena>> arena = device->Allocate(bytes);
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_EQ((*arena)->size(), bytes);
    EXPECT_EQ(reinterpret_cast<uint64_t>((*arena)->data()) % 4096, 0u);
    EXPECT_TRUE(std::all_of((*arena)->data(), (*arena)->data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
  }
  EXPECT_EQ(device->Allocate(uint64_t{1} << 62).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_P(DeviceConformance, LaunchGetsBuffersAndCoordinates) {
  auto device = MakeDevice(2);
  auto file = *artifact::ArtifactFile::FromBytes(SampleBytes(1), "sample");
  auto kernels = device->LoadKernels(*file);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  TestArena arena(*device, 1024);
  std::vector<float> source(64);
  std::iota(source.begin(), source.end(), 0.0f);
  arena.Put(0, source);
  artifact::LaunchT launch;
  launch.kernel = 0;
  launch.buffers = {Slice(Space::Private, 0, 256), Slice(Space::Private, 256, 256)};
  launch.range = 64;
  launch.grain = 16;
  const std::vector<int64_t> coordinates = {5};
  const Packed<artifact::Launch, artifact::LaunchT> packed(launch);
  Execute(device->PrepareLaunch(*packed, **kernels, arena.map(), coordinates), *device);
  for (float& value : source) value = 2 * value + 5;
  EXPECT_EQ(arena.Get<float>(256, 64), source);
}

// Pieces of many sizes, some empty, by both kernels: each gets its own buffers, coordinates and parts.
TEST_P(DeviceConformance, LaunchGroupsRunEveryPieceOnce) {
  auto file = *artifact::ArtifactFile::FromBytes(SampleBytes(1), "sample");
  for (uint32_t threads : {1u, 2u, 3u}) {
    auto device = MakeDevice(threads);
    auto kernels = *device->LoadKernels(*file);
    for (uint64_t scale : {uint64_t{1}, uint64_t{400}}) {
      const std::vector<uint64_t> ranges = {0, 1, 16, 17 * scale, 0, 3, 100 * scale, 1, 64, 0};
      uint64_t bytes = 0;
      std::vector<artifact::LaunchT> launches(ranges.size());
      for (size_t i = 0; i < ranges.size(); ++i) {
        const uint64_t size = (ranges[i] * 4 + 63) / 64 * 64;
        launches[i].buffers = {Slice(Space::Private, bytes, size), Slice(Space::Private, bytes + size, size)};
        launches[i].range = ranges[i];
        launches[i].grain = 16;
        bytes += 2 * size;
      }
      TestArena arena(*device, bytes);
      arena.Put(0, std::vector<float>(bytes / 4, 1.0f));
      std::vector<std::unique_ptr<Packed<artifact::Launch, artifact::LaunchT>>> packed;
      std::vector<device::GroupedLaunch> group;
      for (size_t i = 0; i < launches.size(); ++i) {
        packed.push_back(std::make_unique<Packed<artifact::Launch, artifact::LaunchT>>(launches[i]));
        group.push_back({&**packed.back(), {static_cast<int64_t>(i)}});
      }
      Execute(device->PrepareLaunchGroup(group, {}, *kernels, arena.map()), *device);
      for (size_t i = 0; i < launches.size(); ++i) {
        EXPECT_EQ(arena.Get<float>(launches[i].buffers[1].offset(), ranges[i]),
                  std::vector<float>(ranges[i], 2.0f + static_cast<float>(i)))
            << i;
      }
    }
    Execute(device->PrepareLaunchGroup({}, {}, *kernels, TestArena(*device, 64).map()), *device);
  }
}

TEST_P(DeviceConformance, LaunchPartsBeginAtMultiplesOfTheGrain) {
  auto file = *artifact::ArtifactFile::FromBytes(SampleBytes(1), "sample");
  for (uint32_t threads : {1u, 2u, 3u}) {
    auto device = MakeDevice(threads);
    auto kernels = *device->LoadKernels(*file);
    for (uint64_t range : {0u, 1u, 7u, 8u, 9u, 100u}) {
      TestArena arena(*device, 1024);
      arena.Put(0, std::vector<int64_t>(101, -1));
      artifact::LaunchT launch;
      launch.kernel = 1;
      launch.buffers = {Slice(Space::Private, 0, 1024)};
      launch.range = range;
      launch.grain = 8;
      Execute(device->PrepareLaunch(*Packed<artifact::Launch, artifact::LaunchT>(launch), *kernels, arena.map(), {}),
              *device);
      const std::vector<int64_t> ends = arena.Get<int64_t>(0, 101);
      for (uint64_t i = 0; i < range; ++i) {
        EXPECT_GT(ends[i], static_cast<int64_t>(i));
        EXPECT_TRUE(ends[i] % 8 == 0 || ends[i] == static_cast<int64_t>(range)) << ends[i];
        EXPECT_TRUE(i == 0 || ends[i] == ends[i - 1] || ends[i - 1] == static_cast<int64_t>(i));
      }
      EXPECT_EQ(ends[range], -1);
    }
  }
}

TEST_P(DeviceConformance, CopiesAnySizeAndOverlap) {
  auto device = MakeDevice(3);
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{4097}, uint64_t{1000001}}) {
    TestArena arena(*device, 2 * bytes + 64);
    std::vector<uint8_t> values(bytes);
    for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<uint8_t>(i * 7 + i / 256);
    arena.Put(0, values);
    Execute(device->PrepareCopy(arena.data(), arena.data() + bytes + 3, bytes), *device);
    EXPECT_EQ(arena.Get<uint8_t>(bytes + 3, bytes), values);
    EXPECT_EQ(arena.Get<uint8_t>(2 * bytes + 3, 8), std::vector<uint8_t>(8, 0));
    Execute(device->PrepareCopy(arena.data(), arena.data() + 1, bytes), *device);
    EXPECT_EQ(arena.Get<uint8_t>(1, bytes), values);
  }
}

TEST_P(DeviceConformance, FillsRepeatThePattern) {
  auto device = MakeDevice(2);
  for (size_t length = 1; length <= 16; ++length) {
    for (uint64_t repeats : {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{40000}}) {
      std::vector<uint8_t> pattern(length);
      std::iota(pattern.begin(), pattern.end(), uint8_t{1});
      const uint64_t bytes = length * repeats;
      TestArena arena(*device, bytes + 16);
      Execute(device->PrepareFill(arena.data(), bytes, pattern), *device);
      const std::vector<uint8_t> filled = arena.Get<uint8_t>(0, bytes + 16);
      for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(filled[i], pattern[i % length]) << length << " " << i;
      EXPECT_EQ(filled[bytes], 0);
    }
  }
  TestArena arena(*device, 1 << 20);
  arena.Put(0, std::vector<uint8_t>(1 << 20, 9));
  Execute(device->PrepareFill(arena.data(), (1 << 20) - 1, std::vector<uint8_t>{0}), *device);
  EXPECT_EQ(arena.Get<uint8_t>((1 << 20) - 2, 2), (std::vector<uint8_t>{0, 9}));
}

}  // namespace
}  // namespace sgd::testing
