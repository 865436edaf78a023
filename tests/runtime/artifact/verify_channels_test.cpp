// Pipelines that fit, and artifacts whose stages, channels or messages do not.
#include "runtime/artifact/verify_channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/reader.h"
#include "runtime/artifact/whole_program.h"
#include "tests/runtime/artifact/pipeline_artifact.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;
using testing::kReceive, testing::kReceiveBack, testing::kReceiveLoop, testing::kSend, testing::kSendBack;

std::string ErrorAfter(const std::function<void(ArtifactT&)>& change) {
  ArtifactWriter writer;
  testing::FillPipeline(writer);
  change(writer.artifact());
  return std::string(writer.Serialize().status().message());
}

ProgramT& Stage(ArtifactT& root, size_t stage) { return *root.programs[stage]; }

struct Case {
  const char* name;
  std::function<void(ArtifactT&)> change;
  const char* message;
};

TEST(VerifyChannels, APipeline) {
  ArtifactWriter writer;
  testing::FillPipeline(writer);
  absl::StatusOr<std::string> bytes = writer.Serialize();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  auto file = ArtifactFile::FromBytes(*bytes, "pipeline");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->StageOf(0), 0);
  EXPECT_EQ((*file)->StageOf(1), 1);
  EXPECT_EQ((*file)->ranks_of_stage(), 1u);
  EXPECT_EQ((*(*file)->FindProgram("main", 1))->stage(), 1);
  EXPECT_FALSE((*file)->FindProgram("eval", 1).ok());
  const WholeProgram whole = WholeOf((*file)->root(), "main");
  ASSERT_EQ(whole.inputs.size(), 2u);
  EXPECT_EQ(whole.inputs[1].tensor->name()->string_view(), "c");
  EXPECT_EQ(whole.inputs[0].HolderOf(1), nullptr);
  EXPECT_EQ(whole.CarryOf(whole.outputs[1]), 1);
}

TEST(VerifyChannels, Stages) {
  const std::vector<Case> cases = {
      {"no such axis", [](ArtifactT& a) { a.mesh[0]->size = 4; },
       "there are 2 stages, which the first mesh axis has not"},
      {"channels without stages",
       [](ArtifactT& a) {
         a.stages.clear();
         a.programs.resize(1);
       },
       "there are channels, and no stages"},
      {"a stage without stages",
       [](ArtifactT& a) {
         a.stages.clear();
         a.channels.clear();
         a.programs.resize(1);
       },
       "program 'main': is of stage 0, and there are none"},
      {"a stage is missing", [](ArtifactT& a) { a.programs.pop_back(); }, "program 'main': is there for 1 of 2 stages"},
      {"twice", [](ArtifactT& a) { Stage(a, 1).stage = 0; }, "is empty or used twice for stage 0"},
      {"no such stage", [](ArtifactT& a) { Stage(a, 1).stage = 2; }, "program 'main': is of stage 2 of 2"},
      {"of all ranks", [](ArtifactT& a) { Stage(a, 1).stage = -1; }, "program 'main': is of stage -1 of 2"},
      {"larger than any", [](ArtifactT& a) { a.stages[0]->private_bytes = 4096; },
       "stage 0 has larger arenas than any"},
      {"sharded over stages",
       [](ArtifactT& a) {
         a.private_bytes = a.stages[0]->private_bytes = 4096;
         Stage(a, 0).inputs[0]->type = testing::TensorOf(ElementType::F32, {8}, 2);
       },
       "is over the stage axis"},
  };
  for (const Case& c : cases) EXPECT_THAT(ErrorAfter(c.change), HasSubstr(c.message)) << c.name;
}

void MoveMailbox(ArtifactT& root, Space space, uint64_t offset) {
  root.channels[0]->mailbox = testing::SliceAt(space, offset, root.channels[0]->mailbox->size());
}

TEST(VerifyChannels, Channels) {
  const std::vector<Case> cases = {
      {"to itself", [](ArtifactT& a) { a.channels[0]->to_stage = 0; }, "channel 0: is from stage 0 to stage 0 of 2"},
      {"to nowhere", [](ArtifactT& a) { a.channels[1]->to_stage = 7; }, "channel 1: is from stage 1 to stage 7 of 2"},
      {"no place", [](ArtifactT& a) { a.channels[0]->depth = 0; }, "has 0 places where 1 to 1024 are allowed"},
      {"deep", [](ArtifactT& a) { a.channels[0]->depth = 4000000000u; }, "has 4000000000 places"},
      {"huge", [](ArtifactT& a) { a.channels[0]->slot_bytes = ~uint64_t{0}; }, "has messages of more than 2^36 bytes"},
      {"another size", [](ArtifactT& a) { a.channels[0]->slot_bytes = 4096; }, "has a mailbox of"},
      {"private", [](ArtifactT& a) { MoveMailbox(a, Space::Private, 128); }, "has a mailbox of"},
      {"outside", [](ArtifactT& a) { MoveMailbox(a, Space::Window, 4096); }, "has a mailbox of"},
      {"far outside", [](ArtifactT& a) { MoveMailbox(a, Space::Window, ~uint64_t{127}); }, "has a mailbox of"},
      {"odd", [](ArtifactT& a) { MoveMailbox(a, Space::Window, 64); }, "has a mailbox of"},
      {"overlap", [](ArtifactT& a) { a.channels.push_back(std::make_unique<ChannelT>(*a.channels[0])); },
       "the mailboxes of channels 0 and 2 overlap"},
      {"a program's memory",
       [](ArtifactT& a) { Stage(a, 1).inputs[0]->slice = testing::SliceAt(Space::Window, 128, 16); },
       "are outside of the Window space of 128 bytes"},
  };
  for (const Case& c : cases) EXPECT_THAT(ErrorAfter(c.change), HasSubstr(c.message)) << c.name;
}

SendT& SendIn(ArtifactT& root) { return *Stage(root, 0).instructions[kSend]->op.AsSend(); }
ReceiveT& ReceiveIn(ArtifactT& root) { return *Stage(root, 1).instructions[kReceive]->op.AsReceive(); }

TEST(VerifyChannels, Messages) {
  const std::vector<Case> cases = {
      {"no such channel", [](ArtifactT& a) { SendIn(a).channel = 9; }, "instruction 1 (send): channel 9 of 2"},
      {"of another stage", [](ArtifactT& a) { SendIn(a).channel = 1; },
       "stage 0 sends to channel 1 from stage 1 to stage 0"},
      {"from another stage", [](ArtifactT& a) { ReceiveIn(a).channel = 1; },
       "stage 1 receives from channel 1 from stage 1 to stage 0"},
      {"of another size", [](ArtifactT& a) { SendIn(a).source = testing::SliceAt(Space::Private, 0, 8); },
       "the source has 8 bytes, messages of channel 0 have 16"},
      {"into a constant", [](ArtifactT& a) { ReceiveIn(a).target = testing::SliceAt(Space::Constant, 0, 0); },
       "read-only"},
      {"outside", [](ArtifactT& a) { ReceiveIn(a).target = testing::SliceAt(Space::Private, 4096, 16); },
       "are outside of the Private space"},
      {"one too few", [](ArtifactT& a) { Stage(a, 1).instructions[kReceiveLoop]->op.AsLoop()->trips = 2; },
       "program 'main': stage 0's instruction 1 (send) at model.py:7:3: a message of channel 0 from stage 0 to stage 1 "
       "is never received"},
      {"one too many", [](ArtifactT& a) { Stage(a, 1).instructions[kReceiveLoop]->op.AsLoop()->trips = 4; },
       "never end: stage 0's instruction 2 (receive) at model.py:7:3 waits for a message of channel 1 from stage 1 to "
       "stage 0; stage 1's instruction 1 (receive) at model.py:7:3 waits for a message of channel 0"},
      {"in a circle",
       [](ArtifactT& a) {
         ProgramT& stage = Stage(a, 0);  // the receive first
         std::rotate(stage.instructions.begin(), stage.instructions.begin() + kReceiveBack, stage.instructions.end());
       },
       "never end"},
      {"for ever and ever",
       [](ArtifactT& a) {
         for (size_t stage : {0, 1}) Stage(a, stage).instructions[0]->op.AsLoop()->trips = uint64_t{1} << 33;
       },
       "a step has more than"},
      {"as data decides",
       [](ArtifactT& a) {
         LoopT& loop = *Stage(a, 0).instructions[0]->op.AsLoop();
         loop.predicate = testing::SliceAt(Space::Private, 64, 1);
       },
       "stage 0: instruction 0 (loop): sends or receives messages as data decides"},
  };
  for (const Case& c : cases) EXPECT_THAT(ErrorAfter(c.change), HasSubstr(c.message)) << c.name;
}

TEST(VerifyChannels, Wholes) {
  const std::vector<Case> cases = {
      {"no position", [](ArtifactT& a) { Stage(a, 0).inputs[0]->position = -1; }, "input 0 has the position -1"},
      {"far away", [](ArtifactT& a) { Stage(a, 0).inputs[0]->position = 2000000000; }, "input 0 has the position 2000"},
      {"a gap", [](ArtifactT& a) { Stage(a, 0).outputs[0]->position = 1; }, "no stage has the output at position 0"},
      {"two names", [](ArtifactT& a) { Stage(a, 1).inputs[0]->position = 0; },
       "input at position 0: stages 0 and 1 differ in its name, type or sharding"},
      {"one name", [](ArtifactT& a) { Stage(a, 1).inputs[0]->name = "a"; },
       "input at position 1: the name is used twice"},
      {"carried elsewhere",
       [](ArtifactT& a) {
         // Both hold a; only stage 0 makes its next value.
         auto input = std::make_unique<InputT>(*Stage(a, 0).inputs[0]);
         Stage(a, 1).inputs.push_back(std::move(input));
       },
       "output at position 0: is carried into the input at position 0, which other stages have"},
  };
  for (const Case& c : cases) EXPECT_THAT(ErrorAfter(c.change), HasSubstr(c.message)) << c.name;
}

// The input and output at position 0 with rows of their own in both stages.
void Spread(ArtifactT& a, std::vector<RowRange> first, std::vector<RowRange> second) {
  for (size_t stage : {0, 1}) {
    const std::vector<RowRange>& rows = stage == 0 ? first : second;
    ProgramT& program = Stage(a, stage);
    program.inputs[0]->name = "w";
    program.outputs[0]->name = "next_w";
    program.inputs[0]->position = program.outputs[0]->position = 0;
    for (TensorInfoT* type : {program.inputs[0]->type.get(), program.outputs[0]->type.get()}) {
      type->global_dims = {6};
      type->local_dims = {0};
      for (const RowRange& range : rows) type->local_dims[0] += range.count();
      type->rows = rows;
    }
  }
}

TEST(VerifyChannels, RowsOfStages) {
  EXPECT_EQ(ErrorAfter([](ArtifactT& a) { Spread(a, {{0, 1}, {3, 3}}, {{1, 2}}); }), "");
  const std::vector<Case> cases = {
      {"missing", [](ArtifactT& a) { Spread(a, {{0, 2}}, {{3, 3}}); },
       "input at position 0: the stages' rows are not each row once"},
      {"twice", [](ArtifactT& a) { Spread(a, {{0, 3}}, {{2, 4}}); },
       "input at position 0: the stages' rows are not each row once"},
      {"behind the end", [](ArtifactT& a) { Spread(a, {{0, 3}}, {{3, 4}}); },
       "rows [3, + 4) of 6 are none, or before others"},
      {"descending", [](ArtifactT& a) { Spread(a, {{3, 1}, {0, 3}}, {{4, 2}}); },
       "rows [0, + 3) of 6 are none, or before others"},
      {"far away", [](ArtifactT& a) { Spread(a, {{~0ull, 1}}, {{0, 4}}); }, "are none, or before others"},
      {"carried elsewhere",
       [](ArtifactT& a) {
         Spread(a, {{0, 3}}, {{3, 3}});
         Stage(a, 0).outputs[0]->type->rows = {{3, 3}};
         Stage(a, 1).outputs[0]->type->rows = {{0, 3}};
       },
       "carries into input 0 of other rows"},
      {"other local rows",
       [](ArtifactT& a) {
         Spread(a, {{0, 3}}, {{3, 3}});
         Stage(a, 0).inputs[0]->type->local_dims = {4};
       },
       "where 3 is expected"},
      {"all in one",
       [](ArtifactT& a) {
         Spread(a, {{0, 3}}, {{3, 3}});
         for (TensorInfoT* type : {Stage(a, 1).inputs[0]->type.get(), Stage(a, 1).outputs[0]->type.get()}) {
           type->rows.clear();
           type->global_dims = type->local_dims = {4};
         }
       },
       "stages 0 and 1 differ in its name, type or sharding"},
  };
  for (const Case& c : cases) EXPECT_THAT(ErrorAfter(c.change), HasSubstr(c.message)) << c.name;
}

}  // namespace
}  // namespace sgd::artifact
