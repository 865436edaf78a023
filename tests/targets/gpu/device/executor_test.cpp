// Steps of a device with streams over buffers of the caller, on the fakes: launched one by one, recorded and replayed.
#include "runtime/exec/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emulated_device.h"
#include "rank_threads.h"
#include "runtime/artifact/writer.h"
#include "runtime/exec/carry.h"
#include "targets/gpu/device/cuda_communicator.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::exec {
namespace {

using ::sgd::testing::ScopedVariable;

constexpr uint64_t kBytes = 256;

artifact::Slice At(uint64_t offset, uint64_t size = kBytes) {
  return artifact::Slice(artifact::Space::Private, offset, size);
}

template <typename T>
void Describe(T& tensor, const char* name, uint64_t offset) {
  tensor.name = name;
  tensor.type = testing::TensorOf(artifact::ElementType::U8, {kBytes}, 1);
  tensor.slice = std::make_unique<artifact::Slice>(At(offset));
}

// y is x. With `reuses`, a last instruction fills memory across the border behind x.
std::unique_ptr<artifact::ArtifactFile> CopyProgram(bool reuses) {
  artifact::ArtifactWriter writer;
  writer.artifact().compiler_version = "test";
  writer.artifact().target = "cuda";
  writer.artifact().private_bytes = 4 * kBytes;
  auto program = std::make_unique<artifact::ProgramT>();
  program->name = "main";
  program->inputs.push_back(std::make_unique<artifact::InputT>());
  Describe(*program->inputs[0], "x", 0);
  program->outputs.push_back(std::make_unique<artifact::OutputT>());
  Describe(*program->outputs[0], "y", 2 * kBytes);
  artifact::CopyT copy;
  copy.source = std::make_unique<artifact::Slice>(At(0));
  copy.target = std::make_unique<artifact::Slice>(At(2 * kBytes));
  testing::Append(*program, std::move(copy));
  artifact::FillT fill;
  fill.target = std::make_unique<artifact::Slice>(reuses ? At(64) : At(kBytes));
  fill.pattern = {0xee};
  testing::Append(*program, std::move(fill));
  writer.artifact().programs.push_back(std::move(program));
  return *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "copy.sgda");
}

class StreamBuffers : public ::testing::TestWithParam<bool> {
 protected:
  const ScopedVariable libraries_{"SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES};
};

TEST_P(StreamBuffers, AreReadAndWrittenByEveryStep) {
  const auto file = CopyProgram(GetParam());
  comm::RunAsThreads(1, 0, [&](comm::SharedMemoryCommunicator& host) {
    auto device = *cuda::CudaDevice::Create({});
    ASSERT_TRUE(device->Reserve(1 << 20).ok());
    auto communicator = *cuda::CudaCommunicator::Create(*device, host.control(), 64, absl::Seconds(60));
    auto x = *device->Allocate(kBytes), y = *device->Allocate(kBytes), arena = *device->Allocate(4 * kBytes);
    auto context =
        ExecutionContext::Create(*file, *device, *communicator, {.private_arena = {arena->data(), arena->size()}});
    ASSERT_TRUE(context.ok()) << context.status();
    ExecutorOptions options;
    options.inputs = {{0, {x->data(), kBytes}}};
    options.outputs = {{0, {y->data(), kBytes}}};
    auto executor = Executor::Create(**context, "main", options);
    ASSERT_TRUE(executor.ok()) << executor.status();
    for (int step = 0; step < 5; ++step) {
      // As another user of the device fills it.
      const std::vector<std::byte> values(kBytes, static_cast<std::byte>(step + 1));
      ASSERT_TRUE(device->host_transfer()->Upload(values, x->data()).ok());
      const absl::Status status = (*executor)->Run(step);
      ASSERT_TRUE(status.ok()) << status;
      std::vector<std::byte> result(kBytes);
      ASSERT_TRUE(device->host_transfer()->Download(y->data(), result).ok());
      EXPECT_EQ(result, values) << step;
      const std::span<const std::byte> read = (*executor)->OutputBytes(0);
      EXPECT_EQ(std::vector<std::byte>(read.begin(), read.end()), values) << step;
    }
    ASSERT_TRUE(host.control().Barrier(absl::Seconds(60)).ok());
  });
}

TEST(StreamInputs, AreTheDevicesOnceDiscarded) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  const auto file = CopyProgram(/*reuses=*/false);
  comm::RunAsThreads(1, 0, [&](comm::SharedMemoryCommunicator& host) {
    auto device = *cuda::CudaDevice::Create({});
    auto communicator = *cuda::CudaCommunicator::Create(*device, host.control(), 64, absl::Seconds(60));
    auto context = *ExecutionContext::Create(*file, *device, *communicator);
    auto executor = *Executor::Create(*context, "main", {});
    auto carry = *Carry::Create(*context, *executor, *executor, {{0, 0}});
    const auto fill = [&](uint8_t value) { std::ranges::fill(executor->InputBytes(0), static_cast<std::byte>(value)); };
    const auto is = [](std::span<const std::byte> bytes, uint8_t value) {
      return bytes.size() == kBytes &&
             std::ranges::all_of(bytes, [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
    };
    fill(1);
    ASSERT_TRUE(executor->Run(0).ok());
    // Filled, and then carried: the output of the step is the input's value.
    fill(2);
    EXPECT_TRUE(is(executor->ReadInput(0), 2));
    ASSERT_TRUE(carry->Run().ok());
    executor->DiscardInput(0);
    EXPECT_TRUE(is(executor->ReadInput(0), 1));
    ASSERT_TRUE(executor->Run(1).ok());
    EXPECT_TRUE(is(executor->OutputBytes(0), 1));
    EXPECT_TRUE(executor->read_status().ok());
    carry.reset();
    executor.reset();
    context.reset();
    ASSERT_TRUE(host.control().Barrier(absl::Seconds(60)).ok());
  });
}

INSTANTIATE_TEST_SUITE_P(Plans, StreamBuffers, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "InputsAreReused" : "InputsStay"; });

}  // namespace
}  // namespace sgd::exec
