// Steps that call functions of this process: the handler's values, its errors, ranks that do not call, and no handler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/artifact/writer.h"
#include "runtime/embed/executable.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::embed {
namespace {

using artifact::ElementType;
using artifact::Space;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kEachRank = 5, kOnce = 6;

std::unique_ptr<artifact::HostTensorT> Tensor(ElementType element, uint64_t size, uint64_t offset) {
  auto tensor = std::make_unique<artifact::HostTensorT>();
  tensor->element = element;
  tensor->dims = {size};
  tensor->slice = testing::SliceAt(Space::Private, offset, size * 4);
  return tensor;
}

artifact::HostCallT Call(uint64_t id, bool each_rank) {
  artifact::HostCallT call;
  call.id = id;
  call.name = each_rank ? "on each" : "once";
  call.each_rank = each_rank;
  call.inputs.push_back(Tensor(ElementType::F32, 4, 0));
  return call;
}

// Of two ranks: x f32[8] in two shards. Each rank calls with its shard where `when` bool[2] says so, which gives y
// f32[8]; rank 0 calls with its own, which gives z i32[4] in two shards.
std::shared_ptr<const artifact::ArtifactFile> Program() {
  artifact::ArtifactWriter writer;
  artifact::ArtifactT& root = writer.artifact();
  root.compiler_version = "test";
  root.target = "cpu";
  root.cpu = "x86-64";
  root.private_bytes = 256;
  root.mesh.push_back(std::make_unique<artifact::MeshAxisT>());
  root.mesh[0]->name = "data";
  root.mesh[0]->size = 2;
  auto program = std::make_unique<artifact::ProgramT>();
  program->name = "main";
  program->locations = {"model.py:3:7"};
  const auto add = [&](auto& tensors, auto tensor, const char* name, ElementType element, uint64_t size,
                       std::unique_ptr<artifact::Slice> slice) {
    tensor->name = name;
    tensor->type = testing::TensorOf(element, {size}, 2);
    tensor->slice = std::move(slice);
    tensors.push_back(std::move(tensor));
  };
  add(program->inputs, std::make_unique<artifact::InputT>(), "x", ElementType::F32, 8,
      testing::SliceAt(Space::Private, 0, 16));
  add(program->inputs, std::make_unique<artifact::InputT>(), "when", ElementType::Bool, 2,
      testing::SliceAt(Space::Private, 192, 1));
  artifact::HostCallT each = Call(kEachRank, true), once = Call(kOnce, false);
  each.when = testing::SliceAt(Space::Private, 192, 1);
  each.outputs.push_back(Tensor(ElementType::F32, 4, 64));
  once.outputs.push_back(Tensor(ElementType::I32, 2, 128));
  testing::Append(*program, std::move(each));
  testing::Append(*program, std::move(once));
  add(program->outputs, std::make_unique<artifact::OutputT>(), "y", ElementType::F32, 8,
      testing::SliceAt(Space::Private, 64, 16));
  add(program->outputs, std::make_unique<artifact::OutputT>(), "z", ElementType::I32, 4,
      testing::SliceAt(Space::Private, 128, 8));
  root.programs.push_back(std::move(program));
  absl::StatusOr<std::string> bytes = writer.Serialize();
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  auto file = artifact::ArtifactFile::FromBytes(*bytes, "host_calls.sgda");
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

template <typename T>
absl::Status Set(Executable& program, size_t input, const std::vector<T>& values) {
  return program.SetInput(input, std::as_bytes(std::span(values)));
}

template <typename T>
std::vector<T> Output(const Executable& program, size_t output, size_t size) {
  std::vector<T> values(size);
  EXPECT_EQ(program.ReadOutput(output, std::as_writable_bytes(std::span(values))), absl::OkStatus());
  return values;
}

// Doubles what each rank has, and counts the calls of rank 0.
class Handler {
 public:
  absl::Status operator()(const exec::HostCall& call) {
    const std::lock_guard lock(mutex_);
    if (call.id == kOnce) {
      EXPECT_EQ(call.rank, 0u);
      EXPECT_EQ(call.name, "once");
      const int32_t counts[] = {++count_, 10 * count_};
      std::memcpy(call.outputs[0].bytes.data(), counts, sizeof(counts));
      return absl::OkStatus();
    }
    EXPECT_EQ(call.id, kEachRank);
    EXPECT_THAT(call.inputs[0].dims, ElementsAre(4));
    float values[4];
    std::memcpy(values, call.inputs[0].bytes.data(), sizeof(values));
    if (values[0] < 0) return absl::InternalError("a negative value");
    for (float& value : values) value *= 2;
    std::memcpy(call.outputs[0].bytes.data(), values, sizeof(values));
    return absl::OkStatus();
  }

 private:
  std::mutex mutex_;
  int32_t count_ = 0;
};

std::unique_ptr<Executable> Load(exec::HostCallHandler handler) {
  auto program = Executable::Load(Program(), {.ranks = {.threads = 1}, .host_calls = std::move(handler)});
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *std::move(program) : nullptr;
}

TEST(HostCalls, GetAndReturnValuesOnTheRanksThatCall) {
  const auto handler = std::make_shared<Handler>();
  const auto program = Load([handler](const exec::HostCall& call) { return (*handler)(call); });
  ASSERT_NE(program, nullptr);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_EQ(Set(*program, 0, x), absl::OkStatus());
  ASSERT_EQ(Set<uint8_t>(*program, 1, {1, 1}), absl::OkStatus());
  ASSERT_EQ(program->Run(), absl::OkStatus());
  EXPECT_THAT(Output<float>(*program, 0, 8), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
  EXPECT_THAT(Output<int32_t>(*program, 1, 4), ElementsAre(1, 10, 0, 0));
  ASSERT_EQ(Set(*program, 0, x), absl::OkStatus());
  ASSERT_EQ(Set<uint8_t>(*program, 1, {0, 1}), absl::OkStatus());
  ASSERT_EQ(program->Run(), absl::OkStatus());
  EXPECT_THAT(Output<float>(*program, 0, 8), ElementsAre(0, 0, 0, 0, 10, 12, 14, 16));
  EXPECT_THAT(Output<int32_t>(*program, 1, 4), ElementsAre(2, 20, 0, 0));
}

TEST(HostCalls, AnErrorEndsTheStepAndNamesTheCall) {
  const auto handler = std::make_shared<Handler>();
  const auto program = Load([handler](const exec::HostCall& call) { return (*handler)(call); });
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(Set<float>(*program, 0, {1, 2, 3, 4, -5, 6, 7, 8}), absl::OkStatus());
  ASSERT_EQ(Set<uint8_t>(*program, 1, {1, 1}), absl::OkStatus());
  const std::string message(program->Run().message());
  EXPECT_THAT(message, HasSubstr("rank 1"));
  EXPECT_THAT(message, HasSubstr("(host_call) at model.py:3:7"));
  EXPECT_THAT(message, HasSubstr("a negative value"));
}

TEST(HostCalls, NeedAHandlerBeforeTheFirstStep) {
  const auto program = Executable::Load(Program(), {.ranks = {.threads = 1}});
  EXPECT_EQ(program.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(program.status().message());
  EXPECT_THAT(message, HasSubstr("(host_call) at model.py:3:7"));
  EXPECT_THAT(message, HasSubstr("the program calls 'on each', a function of the process that compiled it, and this "
                                 "process has no handler for such calls; remove the call"));
}

}  // namespace
}  // namespace sgd::embed
