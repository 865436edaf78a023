// Pipelines: a program for each stage, their arenas, and the channels that their messages name.
#include <gtest/gtest.h>

#include "tests/compiler/export/compiled.h"

namespace mlir::sgd {
namespace {

using artifact::Operation;

/// Channel 7 goes forward with 64 bytes, channel 3 back with 32.
const char* kPipeline = R"(
sgd.mesh @mesh = <["stage"=2, "data"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func @main_stage0(%x: tensor<16xf32> {sgd.name = "x", sgd.position = 0 : i64}) -> (tensor<8xf32> {sgd.position = 0 : i64}) attributes {sgd.program = "main", sgd.stage = 0 : i64} {
  spmd.send %x to stage 1 channel 7 : tensor<16xf32>
  %back = spmd.receive channel 3 from stage 1 : tensor<8xf32>
  return %back : tensor<8xf32>
}
func.func @main_stage1(%big: tensor<1000xf32> {sgd.name = "big", sgd.position = 1 : i64}) -> (tensor<1000xf32> {sgd.position = 1 : i64}) attributes {sgd.program = "main", sgd.stage = 1 : i64} {
  %y = spmd.receive channel 7 from stage 0 : tensor<16xf32>
  %few = sgd.slice %y starts = [4] limits = [12] strides = [1] : tensor<16xf32> -> tensor<8xf32>
  spmd.send %few to stage 0 channel 3 : tensor<8xf32>
  %e = math.exp %big : tensor<1000xf32>
  return %e : tensor<1000xf32>
})";

TEST(ExportChannels, EachStageHasItsProgramAndArena) {
  auto file = compileToFile(kPipeline);
  ASSERT_TRUE(file);
  const auto& programs = *file->root().programs();
  ASSERT_EQ(programs.size(), 2u);
  for (unsigned stage : {0u, 1u}) {
    EXPECT_EQ(programs[stage]->name()->str(), "main");
    EXPECT_EQ(programs[stage]->stage(), static_cast<int32_t>(stage));
    ASSERT_EQ(programs[stage]->inputs()->size(), 1u);
    EXPECT_EQ(programs[stage]->inputs()->Get(0)->position(), static_cast<int32_t>(stage));
    EXPECT_EQ(programs[stage]->outputs()->Get(0)->position(), static_cast<int32_t>(stage));
  }
  EXPECT_EQ(programs[0]->sent_bytes(), 64u);
  EXPECT_EQ(programs[1]->sent_bytes(), 32u);
  ASSERT_EQ(file->root().stages()->size(), 2u);
  EXPECT_LT(file->root().stages()->Get(0)->private_bytes(), 4000u);
  EXPECT_GE(file->root().stages()->Get(1)->private_bytes(), 4000u);
}

TEST(ExportChannels, MessagesNameTheChannelOfTheirNumber) {
  auto file = compileToFile(kPipeline);
  ASSERT_TRUE(file);
  const auto& channels = *file->root().channels();
  ASSERT_EQ(channels.size(), 2u);
  for (unsigned stage : {0u, 1u}) {
    const artifact::Program& program = *file->root().programs()->Get(stage);
    auto sends = findInstructions(program, Operation::Send), receives = findInstructions(program, Operation::Receive);
    ASSERT_EQ(sends.size(), 1u);
    ASSERT_EQ(receives.size(), 1u);
    const artifact::Channel& out = *channels[sends[0]->op_as_Send()->channel()];
    const artifact::Channel& in = *channels[receives[0]->op_as_Receive()->channel()];
    EXPECT_EQ(out.from_stage(), stage);
    EXPECT_EQ(out.to_stage(), 1 - stage);
    EXPECT_EQ(in.to_stage(), stage);
    EXPECT_EQ(out.slot_bytes(), stage == 0 ? 64u : 32u);
    EXPECT_EQ(sends[0]->op_as_Send()->source()->size(), out.slot_bytes());
    EXPECT_EQ(receives[0]->op_as_Receive()->target()->size(), in.slot_bytes());
    // The mailbox is in the receiver's window, with room for its places.
    EXPECT_EQ(in.mailbox()->space(), artifact::Space::Window);
    EXPECT_GE(in.mailbox()->size(), in.depth() * in.slot_bytes());
    EXPECT_LE(in.mailbox()->offset() + in.mailbox()->size(), file->root().stages()->Get(stage)->window_bytes());
  }
}

TEST(ExportChannels, WithoutStagesThereIsNone) {
  auto file = compileToFile("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n");
  ASSERT_TRUE(file);
  const artifact::Program& program = *file->root().programs()->Get(0);
  EXPECT_EQ(program.stage(), -1);
  EXPECT_EQ(program.inputs()->Get(0)->position(), -1);
  EXPECT_EQ(artifact::Size(file->root().channels()), 0u);
  EXPECT_EQ(artifact::Size(file->root().stages()), 0u);
}

}  // namespace
}  // namespace mlir::sgd
