// Steps over memory that the test owns: arenas, inputs and outputs. The sample is described in sample_artifact.h.
#include "runtime/exec/caller_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <functional>
#include <memory>

#include "runtime/artifact/writer.h"
#include "runtime/exec/carry.h"
#include "runtime/exec/executor.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::exec {
namespace {

using ::testing::HasSubstr;

// Aligned as an arena, zero.
class Buffer {
 public:
  explicit Buffer(uint64_t bytes)
      : bytes_(bytes), data_(static_cast<std::byte*>(aligned_alloc(4096, (bytes + 8191) / 4096 * 4096)), &free) {
    std::memset(data_.get(), 0, bytes);
  }
  std::span<std::byte> span(uint64_t begin = 0) const { return {data_.get() + begin, bytes_}; }
  float* floats() const { return reinterpret_cast<float*>(data_.get()); }

 private:
  uint64_t bytes_;
  std::unique_ptr<std::byte, decltype(&free)> data_;
};

// Of one rank. With `reuses`, a last instruction fills memory across the border between x and w, which are dead then.
std::unique_ptr<artifact::ArtifactFile> StepFile(bool reuses) {
  artifact::ArtifactWriter writer;
  testing::FillSample(writer, 1);
  if (reuses) {
    artifact::ProgramT& program = *writer.artifact().programs[0];
    const artifact::Slice x = *program.inputs[0]->slice;
    artifact::FillT fill;
    fill.target = testing::SliceAt(artifact::Space::Private, x.offset() + x.size() - 8, 16);
    fill.pattern = {0xff};
    testing::Append(program, std::move(fill));
  }
  return *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "sample.sgda");
}

void OnOneRank(const artifact::ArtifactFile& file,
               const std::function<void(device::Device&, comm::Communicator&)>& body) {
  comm::RunAsThreads(1, file.root().window_bytes(), [&](comm::SharedMemoryCommunicator& communicator) {
    auto device = *cpu::CpuDevice::Create({.threads = 1});
    body(*device, communicator);
  });
}

class CallerBuffersTest : public ::testing::TestWithParam<bool> {
 protected:
  const std::unique_ptr<artifact::ArtifactFile> file_ = StepFile(GetParam());
  const Buffer x_{128}, w_{512}, t_{256}, new_w_{512}, flag_{4};
};

INSTANTIATE_TEST_SUITE_P(Plans, CallerBuffersTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "InputsAreReused" : "InputsStay"; });

// What the same program computes in memory of its own.
TEST_P(CallerBuffersTest, HoldInputsAndOutputs) {
  OnOneRank(*file_, [&](device::Device& device, comm::Communicator& communicator) {
    auto context = *ExecutionContext::Create(*file_, device, communicator);
    auto own = *Executor::Create(*context, "main", {});
    ExecutorOptions options;
    options.inputs = {{0, x_.span()}, {1, w_.span()}};
    options.outputs = {{0, t_.span()}, {1, new_w_.span()}, {2, flag_.span()}};
    const auto executor = Executor::Create(*context, "main", options);
    ASSERT_TRUE(executor.ok()) << executor.status();
    EXPECT_EQ((*executor)->InputBytes(0).data(), x_.span().data());
    for (int step = 0; step < 3; ++step) {
      for (int i = 0; i < 32; ++i) x_.floats()[i] = static_cast<float>(i % 5 + step);
      for (int i = 0; i < 128; ++i) w_.floats()[i] = static_cast<float>(i % 7);
      for (size_t input : {0, 1}) {
        const std::span<std::byte> bytes = own->InputBytes(input);
        std::memcpy(bytes.data(), (input == 0 ? x_ : w_).span().data(), bytes.size());
      }
      ASSERT_TRUE(own->Run(step).ok());
      std::vector<std::vector<std::byte>> expected;
      for (size_t output : {0, 1, 2}) {
        const auto bytes = own->OutputBytes(output);
        expected.emplace_back(bytes.begin(), bytes.end());
      }
      std::memset(context->memory().private_base, 0xee, context->private_bytes());
      const absl::Status status = (*executor)->Run(step);
      ASSERT_TRUE(status.ok()) << status;
      for (size_t output : {0, 1, 2}) {
        const std::span<const std::byte> bytes = (*executor)->OutputBytes(output);
        EXPECT_EQ(bytes.data(), (output == 0 ? t_ : output == 1 ? new_w_ : flag_).span().data());
        EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), expected[output]) << output;
      }
    }
  });
}

// Buffers in place are no copies: the plan's own memory stays as it is.
TEST_P(CallerBuffersTest, AreInPlaceWhereNothingElseUsesThePlansMemory) {
  OnOneRank(*file_, [&](device::Device& device, comm::Communicator& communicator) {
    auto context = *ExecutionContext::Create(*file_, device, communicator);
    const artifact::Program& program = **file_->FindProgram("main");
    const std::vector<CallerTensor> inputs = {{0, x_.span()}, {1, w_.span()}};
    const std::vector<CallerTensor> outputs = {{1, new_w_.span()}};
    const auto bound = CallerBuffers::Bind(program, context->memory(), context->private_bytes(), inputs, outputs);
    ASSERT_TRUE(bound.ok()) << bound.status();
    const bool reuses = GetParam();
    EXPECT_EQ(bound->copies_in().size(), reuses ? 2u : 0u);
    EXPECT_EQ(bound->copies_out().size(), 0u);
    const artifact::Slice& x = *program.inputs()->Get(0)->slice();
    EXPECT_EQ(bound->memory().Address(x), reuses ? context->memory().Address(x) : x_.span().data());
    const artifact::Slice& new_w = *program.outputs()->Get(1)->slice();
    const artifact::Slice end(new_w.space(), new_w.offset() + 508, 4);
    EXPECT_EQ(bound->memory().Address(end), new_w_.span().data() + 508);
  });
}

TEST_P(CallerBuffersTest, CarriedStateGoesFromOneToTheOther) {
  OnOneRank(*file_, [&](device::Device& device, comm::Communicator& communicator) {
    auto context = *ExecutionContext::Create(*file_, device, communicator);
    ExecutorOptions options;
    options.inputs = {{1, w_.span()}};
    options.outputs = {{1, new_w_.span()}};
    auto executor = *Executor::Create(*context, "main", options);
    auto carry = *Carry::Create(*context, *executor, *executor, RecordedCarry(*executor));
    ASSERT_TRUE(executor->Run(0).ok());
    ASSERT_TRUE(carry->Run().ok());
    EXPECT_EQ(std::memcmp(w_.floats(), new_w_.floats(), 512), 0);
    EXPECT_EQ(w_.floats()[5], 5);
  });
}

TEST_P(CallerBuffersTest, ArenasAreTheCallers) {
  OnOneRank(*file_, [&](device::Device& device, comm::Communicator& communicator) {
    const Buffer arena(file_->root().private_bytes());
    auto context = ExecutionContext::Create(*file_, device, communicator, {.private_arena = arena.span()});
    ASSERT_TRUE(context.ok()) << context.status();
    EXPECT_EQ((*context)->memory().private_base, arena.span().data());
    EXPECT_EQ((*context)->arena_bytes(), 1984u + 256u + 512u);
    auto executor = *Executor::Create(**context, "main", {});
    ASSERT_TRUE(executor->Run(0).ok());
    const std::byte* flag = executor->OutputBytes(2).data();
    EXPECT_TRUE(flag >= arena.span().data() && flag < arena.span().data() + arena.span().size());
    EXPECT_EQ(static_cast<int>(*flag), 7);

    for (const std::span<std::byte> wrong : {arena.span().first(1920), arena.span(64)}) {
      const auto refused = ExecutionContext::Create(*file_, device, communicator, {.private_arena = wrong});
      EXPECT_THAT(std::string(refused.status().message()), HasSubstr("sample.sgda: the caller's private arena of "));
    }
  });
}

TEST_P(CallerBuffersTest, WrongBuffersAreRefused) {
  OnOneRank(*file_, [&](device::Device& device, comm::Communicator& communicator) {
    auto context = *ExecutionContext::Create(*file_, device, communicator);
    const auto error = [&](std::vector<CallerTensor> inputs, std::vector<CallerTensor> outputs) {
      ExecutorOptions options;
      options.inputs = std::move(inputs), options.outputs = std::move(outputs);
      return std::string(Executor::Create(*context, "main", options).status().message());
    };
    EXPECT_EQ(error({{2, x_.span()}}, {}),
              "a buffer is for input 2, which this rank does not have; expected one of its own");
    EXPECT_EQ(error({{0, w_.span()}}, {}),
              "the buffer for input 0 'x' has 512 bytes; expected 128, those of its shard");
    EXPECT_EQ(error({{0, x_.span(4)}}, {}),
              "the buffer for input 0 'x' is not aligned; expected a multiple of 64 bytes");
    EXPECT_EQ(error({{1, w_.span()}}, {{1, w_.span()}}),
              "the buffer for output 1 'new_w' overlaps the buffer of another tensor; expected one of its own");
    EXPECT_EQ(error({{0, {context->memory().private_base + 1024, 128}}}, {}),
              "the buffer for input 0 'x' is in the arena; expected memory outside of it");
  });
}

}  // namespace
}  // namespace sgd::exec
