// Carries behave as if all copies were made at once, however outputs and inputs overlap; checked
// against that definition.
#include "runtime/exec/carry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "runtime/artifact/writer.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::exec {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kArena = 64;

// A program without instructions: bytes [offset, offset + size) of the arena as inputs and outputs.
struct Place {
  uint64_t offset;
  uint64_t size;
};

std::unique_ptr<artifact::ArtifactFile> FileOf(const std::vector<Place>& inputs, const std::vector<Place>& outputs) {
  artifact::ArtifactWriter writer;
  writer.artifact().compiler_version = "test";
  writer.artifact().target = "cpu";
  writer.artifact().private_bytes = kArena;
  auto program = std::make_unique<artifact::ProgramT>();
  program->name = "main";
  const auto tensor = [](uint64_t size) { return testing::TensorOf(artifact::ElementType::U8, {size}, 1); };
  for (const Place& place : inputs) {
    auto input = std::make_unique<artifact::InputT>();
    input->name = "in" + std::to_string(program->inputs.size());
    input->type = tensor(place.size);
    input->slice = testing::SliceAt(artifact::Space::Private, place.offset, place.size);
    program->inputs.push_back(std::move(input));
  }
  for (const Place& place : outputs) {
    auto output = std::make_unique<artifact::OutputT>();
    output->name = "out" + std::to_string(program->outputs.size());
    output->type = tensor(place.size);
    output->slice = testing::SliceAt(artifact::Space::Private, place.offset, place.size);
    program->outputs.push_back(std::move(output));
  }
  writer.artifact().programs.push_back(std::move(program));
  return *artifact::ArtifactFile::FromBytes(*writer.Serialize(), "carry.sgda");
}

void WithExecutor(const artifact::ArtifactFile& file, const std::function<void(ExecutionContext&, Executor&)>& body) {
  comm::RunAsThreads(1, 0, [&](comm::SharedMemoryCommunicator& communicator) {
    auto device = *cpu::CpuDevice::Create({1});
    auto context = *ExecutionContext::Create(file, *device, communicator);
    auto executor = *Executor::Create(*context, "main", {});
    body(*context, *executor);
  });
}

void CheckAgainstDefinition(const std::vector<Place>& inputs, const std::vector<Place>& outputs,
                            const CarryPairs& pairs) {
  const auto file = FileOf(inputs, outputs);
  WithExecutor(*file, [&](ExecutionContext& context, Executor& executor) {
    std::byte* arena = context.memory().private_base;
    for (uint64_t i = 0; i < kArena; ++i) arena[i] = static_cast<std::byte>(i + 1);
    std::vector<std::vector<std::byte>> expected;
    for (const auto& pair : pairs) {
      const auto bytes = executor.OutputBytes(pair.first);
      expected.emplace_back(bytes.begin(), bytes.end());
    }
    auto carry = Carry::Create(context, executor, executor, pairs);
    ASSERT_TRUE(carry.ok()) << carry.status();
    ASSERT_TRUE((*carry)->Run().ok());
    for (size_t i = 0; i < pairs.size(); ++i) {
      const auto bytes = executor.InputBytes(pairs[i].second);
      EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), expected[i]) << "pair " << i;
    }
  });
}

TEST(Carry, InPlaceChainAndCircle) {
  CheckAgainstDefinition({{0, 8}}, {{0, 8}}, {{0, 0}});
  CheckAgainstDefinition({{0, 8}, {8, 8}}, {{8, 8}, {16, 8}}, {{0, 0}, {1, 1}});
  CheckAgainstDefinition({{8, 8}, {0, 8}}, {{0, 8}, {16, 8}}, {{0, 0}, {1, 1}});
  CheckAgainstDefinition({{0, 8}, {8, 8}}, {{8, 8}, {0, 8}}, {{0, 0}, {1, 1}});
  CheckAgainstDefinition({{0, 8}, {8, 8}, {16, 8}}, {{8, 8}, {16, 8}, {0, 8}}, {{0, 0}, {1, 1}, {2, 2}});
  CheckAgainstDefinition({{0, 8}}, {{3, 8}}, {{0, 0}});
  CheckAgainstDefinition({{0, 0}}, {{3, 0}}, {{0, 0}});
}

// Inputs apart from each other, outputs anywhere.
TEST(Carry, AnyOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Place> inputs, outputs;
    CarryPairs pairs;
    for (uint64_t i = 0; i < 5; ++i) {
      const uint64_t size = 1 + random() % 12;
      inputs.push_back({i * 12, size});
      outputs.push_back({random() % (kArena - size), size});
      pairs.emplace_back(i, i);
    }
    CheckAgainstDefinition(inputs, outputs, pairs);
  }
}

TEST(Carry, RefusesPairsThatDoNotFit) {
  const auto file = FileOf({{0, 8}, {8, 4}}, {{16, 8}, {24, 8}});
  WithExecutor(*file, [&](ExecutionContext& context, Executor& executor) {
    const auto error = [&](const CarryPairs& pairs) {
      return std::string(Carry::Create(context, executor, executor, pairs).status().message());
    };
    EXPECT_EQ(error({{0, 1}}),
              "cannot carry output 0 'out0' into input 1 'in1': they differ in type, shape or sharding; "
              "expected alike ones; correct --carry");
    EXPECT_EQ(error({{2, 0}}),
              "cannot carry output 2 into input 0: there are 2 outputs and 2 inputs; expected indices below these; "
              "correct --carry");
    EXPECT_EQ(error({{0, 0}, {1, 0}}), "two outputs are carried into input 0 'in0'; expected one; correct --carry");
  });
}

}  // namespace
}  // namespace sgd::exec
