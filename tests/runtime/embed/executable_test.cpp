// Programs inside this process: values of tensors and their ends, state from step to step, failures, files. Runs under
// the sanitizers.
#include "runtime/embed/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/data/tensor_files.h"
#include "tests/runtime/exec/guarded_device.h"
#include "tests/runtime/exec/two_programs.h"
#include "tests/tools/toy_artifact.h"

namespace sgd::embed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Floats = std::vector<float>;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

absl::Status Set(Executable& program, size_t input, const Floats& values) {
  return program.SetInput(input, std::as_bytes(std::span(values)));
}

Floats Output(const Executable& program, size_t output, size_t size) {
  Floats values(size);
  EXPECT_EQ(program.ReadOutput(output, std::as_writable_bytes(std::span(values))), absl::OkStatus());
  return values;
}

// Steps of the toy: w += half the sum of the rows of x; the loss is the sum of w's four elements.
class ToyTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  std::string Write(const ToyOptions& options) {
    const std::string path = folder_ / "toy.sgda";
    WriteToyArtifact(path, options);
    return path;
  }
  std::unique_ptr<Executable> Load(const ToyOptions& options, std::shared_ptr<RankPool> pool = nullptr) {
    auto file = artifact::ArtifactFile::Open(Write(options));
    EXPECT_TRUE(file.ok()) << file.status();
    auto program = Executable::Load(*std::move(file), {.pool = std::move(pool), .ranks = {.threads = 1}});
    EXPECT_TRUE(program.ok()) << program.status();
    loss_ = (*program)->program().output_names.Find("result0").value();
    w_ = (*program)->program().input_names.Find("arg0").value();
    x_ = (*program)->program().input_names.Find("x").value();
    return *std::move(program);
  }
  // Sets what has no value.
  void Fill(Executable& program) {
    if (!program.has_input(w_)) EXPECT_EQ(Set(program, w_, Floats(4, 1)), absl::OkStatus());
    if (!program.has_input(x_)) EXPECT_EQ(Set(program, x_, Floats(32, 1)), absl::OkStatus());
  }

  data::TemporaryFolder folder_;
  size_t loss_ = 0, w_ = 0, x_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Ranks, ToyTest, ::testing::Values(1u, 2u, 4u));

TEST_P(ToyTest, StateIsCarriedFromStepToStep) {
  const auto program = Load({.ranks = GetParam()});
  EXPECT_EQ(program->ranks(), GetParam());
  Floats losses;
  for (int step = 0; step < 3; ++step) {
    Fill(*program);
    ASSERT_EQ(program->Run(), absl::OkStatus());
    losses.push_back(Output(*program, loss_, 1)[0]);
    ASSERT_EQ(program->Carry(), absl::OkStatus());
  }
  EXPECT_THAT(losses, ElementsAre(20, 36, 52));
  EXPECT_EQ(program->steps(), 3);
  Floats w(4);
  EXPECT_EQ(program->ReadInput(w_, std::as_writable_bytes(std::span(w))), absl::OkStatus());
  EXPECT_THAT(w, ElementsAre(13, 13, 13, 13));
}

TEST_P(ToyTest, RowsAreCutIntoShards) {
  const auto program = Load({.ranks = GetParam()});
  Floats x(32);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  ASSERT_EQ(Set(*program, x_, x), absl::OkStatus());
  for (uint32_t rank = 0; rank < GetParam(); ++rank) {
    const Floats shard = data::Values<float>(program->InputShard(rank, x_));
    ASSERT_EQ(shard.size(), 32 / GetParam());
    EXPECT_EQ(shard[0], static_cast<float>(32 / GetParam() * rank));
  }
  ASSERT_EQ(Set(*program, w_, Floats(4, 0)), absl::OkStatus());
  ASSERT_EQ(program->Run(), absl::OkStatus());
  EXPECT_THAT(Output(*program, loss_, 1), ElementsAre(0.5f * 31 * 32 / 2));
}

TEST_P(ToyTest, OutputsAreReadWhereTheyAre) {
  const auto program = Load({.ranks = GetParam()});
  ASSERT_EQ(Set(*program, w_, {1, 2, 3, 4}), absl::OkStatus());
  ASSERT_EQ(Set(*program, x_, Floats(32, 1)), absl::OkStatus());
  ASSERT_EQ(program->Run(), absl::OkStatus());
  const size_t next_w = program->program().carry.at(0).first;
  for (uint32_t rank = 0; rank < GetParam(); ++rank) {  // every rank has all of it
    EXPECT_THAT(data::Values<float>(program->OutputShard(rank, next_w)), ElementsAre(5, 6, 7, 8));
    EXPECT_THAT(data::Values<float>(program->OutputShard(rank, loss_)), ElementsAre(26));
  }
  // In the memory of the plan: the carried value is where the input is.
  ASSERT_EQ(program->Carry(), absl::OkStatus());
  EXPECT_EQ(program->OutputShard(0, next_w).data(), program->InputShard(0, w_).data());
}

TEST_P(ToyTest, ShardsOfOutputsMakeUpTheWhole) {
  auto file = artifact::ArtifactFile::Open(
      Write({.ranks = GetParam(), .has_init = true, .has_eval = true, .others_shard_state = true}));
  auto program = Executable::Load(*std::move(file), {.program = "init", .ranks = {.threads = 1}});
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<uint32_t> key = {0, 0};
  ASSERT_EQ((*program)->SetInput(0, std::as_bytes(std::span(key))), absl::OkStatus());
  ASSERT_EQ((*program)->Run(), absl::OkStatus());
  Floats shards;
  for (uint32_t rank = 0; rank < GetParam(); ++rank) {
    const Floats shard = data::Values<float>((*program)->OutputShard(rank, 0));
    EXPECT_EQ(shard.size(), 4 / GetParam());
    shards.insert(shards.end(), shard.begin(), shard.end());
  }
  EXPECT_THAT(shards, ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(shards, Output(**program, 0, 4));
}

TEST_P(ToyTest, ValuesThatAreNotThereAreNeitherUsedNorRead) {
  const auto program = Load({.ranks = GetParam()});
  EXPECT_THAT(Message(program->Run()), HasSubstr("'params['w']' (f32[1,4]) of program 'train' has no value: set it"));
  EXPECT_THAT(Message(program->Carry()), HasSubstr("no value to carry"));
  Floats loss(1);
  const auto bytes = std::as_writable_bytes(std::span(loss));
  EXPECT_THAT(Message(program->ReadOutput(loss_, bytes)),
              HasSubstr("'result[0]' (f32[]) of program 'train' has no value"));
  EXPECT_THAT(Message(program->ReadInput(x_, bytes)), HasSubstr("has no value"));

  Fill(*program);
  ASSERT_EQ(program->Run(), absl::OkStatus());
  // The state was updated in place and is not carried.
  EXPECT_FALSE(program->has_input(w_));
  EXPECT_THAT(Message(program->Run()),
              HasSubstr("'params['w']' (f32[1,4]) of program 'train' has no value: the last step"));
  // The next value is where the last one was.
  const size_t next_w = program->program().carry.at(0).first;
  EXPECT_TRUE(program->has_output(next_w));
  ASSERT_EQ(Set(*program, w_, Floats(4, 1)), absl::OkStatus());
  EXPECT_FALSE(program->has_output(next_w));
  EXPECT_THAT(Message(program->Carry()), HasSubstr("no value to carry"));
  EXPECT_THAT(Output(*program, loss_, 1), ElementsAre(20));
}

TEST_P(ToyTest, WrongSizesAreRefused) {
  const auto program = Load({.ranks = GetParam()});
  EXPECT_THAT(Message(Set(*program, w_, Floats(3))),
              HasSubstr("'params['w']' (f32[1,4]) of program 'train': given 12 bytes, it has 16"));
  EXPECT_FALSE(program->has_input(w_));
  Fill(*program);
  ASSERT_EQ(program->Run(), absl::OkStatus());
  Floats loss(2);
  EXPECT_THAT(Message(program->ReadOutput(loss_, std::as_writable_bytes(std::span(loss)))),
              HasSubstr("given 8 bytes, it has 4"));
}

TEST_P(ToyTest, ExecutablesShareRanks) {
  const std::shared_ptr<RankPool> pool = *RankPool::Start(GetParam(), {.threads = 1});
  const auto one = Load({.ranks = GetParam()}, pool), other = Load({.ranks = GetParam()}, pool);
  for (Executable* program : {one.get(), other.get(), one.get()}) {
    Fill(*program);
    ASSERT_EQ(program->Run(), absl::OkStatus());
    ASSERT_EQ(program->Carry(), absl::OkStatus());
  }
  Floats w(4);
  EXPECT_EQ(one->ReadInput(w_, std::as_writable_bytes(std::span(w))), absl::OkStatus());
  EXPECT_EQ(w[0], 9);
  auto file = artifact::ArtifactFile::Open(Write({.ranks = GetParam() * 2}));
  EXPECT_THAT(Message(Executable::Load(*std::move(file), {.pool = pool}).status()), HasSubstr("ranks, and there are "));
}

TEST_P(ToyTest, InputsComeFromFiles) {
  const auto program = Load({.ranks = GetParam()});
  const auto write = [&](const std::string& name, const data::Dims& dims) {
    auto writer = *data::TensorFileWriter::Create(folder_ / "w.safetensors", {{name, data::ElementType::F32, dims}});
    data::WriteTensor(writer, 0, Floats(4, 2).data());
    EXPECT_EQ(writer.Commit(), absl::OkStatus());
    return program->SetInputsFrom(folder_ / "w.safetensors");
  };
  EXPECT_THAT(Message(write("v", {1, 4})), HasSubstr("tensor 'v': program 'train' has no such input"));
  EXPECT_THAT(Message(write("params['w']", {4, 1})), HasSubstr("w.safetensors: tensor 'params['w']'"));
  EXPECT_FALSE(program->has_input(w_));
  ASSERT_EQ(write("params['w']", {1, 4}), absl::OkStatus());
  Fill(*program);
  ASSERT_EQ(program->Run(), absl::OkStatus());
  EXPECT_THAT(Output(*program, loss_, 1), ElementsAre(24));
}

TEST_P(ToyTest, UnknownProgramsAreNamed) {
  auto file = artifact::ArtifactFile::Open(Write({.ranks = GetParam()}));
  EXPECT_THAT(Message(Executable::Load(*std::move(file), {.program = "evil"}).status()), HasSubstr("evil"));
}

// Fails in a rank's copies, once it is told to.
class FailingCopies final : public testing::GuardedDevice {
 public:
  FailingCopies(std::unique_ptr<cpu::CpuDevice> cpu, const std::atomic<bool>& fails)
      : GuardedDevice(std::move(cpu)), fails_(fails) {}
  device::PreparedThunk PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) override {
    auto copy = GuardedDevice::PrepareCopy(source, target, bytes);
    if (!copy.ok()) return copy.status();
    return std::make_unique<Copy>(*std::move(copy), fails_);
  }

 private:
  class Copy final : public device::Thunk {
   public:
    Copy(std::unique_ptr<device::Thunk> copy, const std::atomic<bool>& fails) : copy_(std::move(copy)), fails_(fails) {}
    absl::Status Execute() override {
      return fails_ ? absl::DataLossError("the memory has a fault") : copy_->Execute();
    }

   private:
    const std::unique_ptr<device::Thunk> copy_;
    const std::atomic<bool>& fails_;
  };

  const std::atomic<bool>& fails_;
};

TEST(Executable, AFailedStepIsNamedAndLeavesNoValues) {
  std::atomic<bool> fails = false;
  const std::atomic<bool> never = false;
  auto file = artifact::ArtifactFile::FromBytes(testing::TwoProgramsBytes(2), "two.sgda");
  const OpenDevice open = [&](const launch::RankContext& rank) -> absl::StatusOr<std::unique_ptr<device::Device>> {
    auto cpu = cpu::CpuDevice::Create({.threads = 1});
    if (!cpu.ok()) return cpu.status();
    return std::make_unique<FailingCopies>(*std::move(cpu), rank.rank == 1 ? fails : never);
  };
  auto program = *Executable::Load(*std::move(file), {.program = "sum", .ranks = {.open_device = open, .threads = 1}});
  const Floats x(64, 1);
  const auto run = [&] {
    EXPECT_EQ(Set(*program, 0, x), absl::OkStatus());
    return program->Run();
  };
  ASSERT_EQ(run(), absl::OkStatus());
  EXPECT_TRUE(program->has_output(0));
  fails = true;
  const absl::Status failure = run();
  EXPECT_EQ(failure.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Message(failure), HasSubstr("rank 1: program 'sum' instruction 0 (copy) at model.py:7:7"));
  EXPECT_FALSE(program->has_output(0));
  EXPECT_EQ(program->status(), failure);
  EXPECT_EQ(run().code(), absl::StatusCode::kFailedPrecondition);

  fails = false;
  ASSERT_EQ(program->Restart(), absl::OkStatus());
  EXPECT_FALSE(program->has_input(0));
  ASSERT_EQ(run(), absl::OkStatus());
  EXPECT_EQ(Output(*program, 0, 32), Floats(32, 2));
}

}  // namespace
}  // namespace sgd::embed
