// Stream plans of pipelines: any program that the proof of channels takes runs on streams whose sends are held until
// they are received, and what is taken out of a plan is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/artifact/reader.h"
#include "runtime/artifact/verify_channels.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/comm/collectives/channel.h"
#include "runtime/device/check_messages.h"
#include "runtime/device/check_streams.h"
#include "runtime/device/stream_plan.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::device {
namespace {

using artifact::Slice;
using artifact::Space;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ActionKind = StreamAction::Kind;

constexpr uint64_t kWord = 8;
constexpr uint64_t kWords = 24;  // of private memory, all of it inputs

// Stages of a program, built side by side.
class Pipeline {
 public:
  explicit Pipeline(uint32_t stages) {
    root_.target = "cuda";
    for (uint32_t stage = 0; stage < stages; ++stage) {
      root_.stages.push_back(std::make_unique<artifact::StageT>());
      auto program = std::make_unique<artifact::ProgramT>();
      program->name = "main";
      program->stage = static_cast<int32_t>(stage);
      program->locations = {"model.py:7:3"};
      auto input = std::make_unique<artifact::InputT>();
      input->name = "x";
      input->type = testing::TensorOf(artifact::ElementType::I8, {kWords * kWord}, 1);
      input->slice = testing::SliceAt(Space::Private, 0, kWords * kWord);
      input->position = static_cast<int32_t>(stage);
      program->inputs.push_back(std::move(input));
      root_.programs.push_back(std::move(program));
    }
  }

  uint32_t AddChannel(uint32_t from, uint32_t to, uint32_t depth, uint64_t bytes = kWord) {
    auto channel = std::make_unique<artifact::ChannelT>();
    channel->from_stage = from;
    channel->to_stage = to;
    channel->depth = depth;
    channel->slot_bytes = bytes;
    channel->mailbox = testing::SliceAt(Space::Window, window_[to], *comm::MailboxBytes(bytes, depth));
    window_[to] += channel->mailbox->size();
    root_.channels.push_back(std::move(channel));
    return static_cast<uint32_t>(root_.channels.size() - 1);
  }
  void Send(uint32_t channel, uint64_t word) {
    artifact::SendT send;
    send.channel = channel;
    send.source = testing::SliceAt(Space::Private, word * kWord, root_.channels[channel]->slot_bytes);
    testing::Append(*root_.programs[root_.channels[channel]->from_stage], std::move(send));
  }
  void Receive(uint32_t channel, uint64_t word) {
    artifact::ReceiveT receive;
    receive.channel = channel;
    receive.target = testing::SliceAt(Space::Private, word * kWord, root_.channels[channel]->slot_bytes);
    testing::Append(*root_.programs[root_.channels[channel]->to_stage], std::move(receive));
  }
  void Copy(uint32_t stage, uint64_t from, uint64_t to) {
    artifact::CopyT copy;
    copy.source = testing::SliceAt(Space::Private, from * kWord, kWord);
    copy.target = testing::SliceAt(Space::Private, to * kWord, kWord);
    testing::Append(*root_.programs[stage], std::move(copy));
  }
  // The next `body` instructions of the stage run `trips` times; none: as long as a flag is set.
  void Loop(uint32_t stage, uint64_t trips, uint32_t body, bool is_known = true) {
    artifact::LoopT loop;
    loop.trips = trips;
    loop.body = body;
    if (!is_known) loop.predicate = testing::SliceAt(Space::Private, 0, 1);
    testing::Append(*root_.programs[stage], std::move(loop));
  }
  // All that every stage has so far, `trips` times.
  void LoopAll(uint64_t trips) {
    for (uint32_t stage = 0; stage < root_.programs.size(); ++stage) {
      auto& instructions = root_.programs[stage]->instructions;
      if (instructions.empty()) continue;
      Loop(stage, trips, static_cast<uint32_t>(instructions.size()));
      std::ranges::rotate(instructions, instructions.end() - 1);
    }
  }

  const artifact::Artifact& Build() {
    builder_.Clear();
    builder_.Finish(artifact::CreateArtifact(builder_, &root_));
    return *flatbuffers::GetRoot<artifact::Artifact>(builder_.GetBufferPointer());
  }

 private:
  artifact::ArtifactT root_;
  flatbuffers::FlatBufferBuilder builder_;
  std::map<uint32_t, uint64_t> window_;  // by stage: bytes so far
};

// The plans of all stages.
struct Planned {
  explicit Planned(const artifact::Artifact& root) : programs(artifact::WholeOf(root, "main").stages) {
    for (const artifact::Program* program : programs) {
      absl::StatusOr<StreamPlan> plan = PlanStreams(root, *program);
      EXPECT_TRUE(plan.ok()) << plan.status();
      plans.push_back(plan.ok() ? *std::move(plan) : StreamPlan());
    }
  }
  absl::Status Check() const {
    std::vector<StageStreams> stages;
    for (size_t i = 0; i < plans.size(); ++i) stages.push_back({programs[i], &plans[i]});
    return CheckMessages(stages);
  }
  void ExpectRight() const {
    for (size_t i = 0; i < plans.size(); ++i) {
      for (const StreamProblem& problem : CheckStreams(*programs[i], plans[i]))
        ADD_FAILURE() << "stage " << i << ": " << problem.text;
    }
    const absl::Status status = Check();
    EXPECT_TRUE(status.ok()) << status;
  }

  std::vector<const artifact::Program*> programs;
  std::vector<StreamPlan> plans;
};

std::vector<uint32_t> PostsOf(const StreamPlan& plan) {
  std::vector<uint32_t> places;
  for (const StreamAction& action : plan.blocks[0]) {
    if (action.kind == ActionKind::kPost) places.push_back(action.place);
  }
  return places;
}

// Each stage sends two messages a trip, of two channels, and the other one takes them in the other order.
TEST(Messages, AreTakenInAnotherOrderThanTheyAreSentIn) {
  Pipeline pipeline(2);
  const uint32_t a = pipeline.AddChannel(0, 1, 1), b = pipeline.AddChannel(0, 1, 2);
  pipeline.Loop(0, 3, 2);
  pipeline.Send(a, 0);
  pipeline.Send(b, 1);
  pipeline.Loop(1, 3, 2);
  pipeline.Receive(b, 2);
  pipeline.Receive(a, 3);
  const artifact::Artifact& root = pipeline.Build();
  ASSERT_TRUE(artifact::ProveMessages(root).ok());
  const Planned planned(root);
  planned.ExpectRight();
  EXPECT_THAT(planned.plans[0].links, ::testing::ElementsAre(MessageLink{1, true}));
  EXPECT_THAT(planned.plans[1].links, ::testing::ElementsAre(MessageLink{0, false}));
  // In the sender's order: place 0 is that of a, 1 and 2 are those of b.
  EXPECT_THAT(PostsOf(planned.plans[1]), ::testing::ElementsAre(0, 1, 0, 2, 0, 1));
  // Two come before anything is taken: the second of a has no place.
  const StreamBlock& block = planned.plans[1].blocks[0];
  const auto take =
      std::ranges::find_if(block, [](const StreamAction& action) { return action.kind == ActionKind::kRun; });
  EXPECT_EQ(
      std::count_if(block.begin(), take, [](const StreamAction& action) { return action.kind == ActionKind::kPost; }),
      2);
}

// Both stages send as much as the other one has room for before they receive: sends that are held until they are
// received end because receives are posted first.
TEST(Messages, StagesThatSendToEachOtherFirst) {
  Pipeline pipeline(2);
  const uint32_t there = pipeline.AddChannel(0, 1, 2), back = pipeline.AddChannel(1, 0, 2);
  for (const uint32_t channel : {there, back}) {
    for (int i = 0; i < 2; ++i) {
      pipeline.Send(channel, 1);
      pipeline.Copy(channel == there ? 0 : 1, 2, 1);  // when it has been sent
    }
  }
  for (const uint32_t channel : {back, there}) {
    for (int i = 0; i < 2; ++i) pipeline.Receive(channel, 3);
  }
  const artifact::Artifact& root = pipeline.Build();
  ASSERT_TRUE(artifact::ProveMessages(root).ok());
  const Planned planned(root);
  planned.ExpectRight();
  // Posted when they are taken, both sides wait for ever.
  Planned late = planned;
  for (StreamPlan& plan : late.plans) {
    StreamBlock& block = plan.blocks[0];
    const uint32_t receives = plan.first_link() + (plan.links[0].sends ? 1 : 0);
    // Behind the copies: before the first action of compute that is a Receive.
    const auto take = std::ranges::find_if(block, [&](const StreamAction& action) {
      return action.kind == ActionKind::kRun && action.stream == StreamPlan::kCompute && action.instruction >= 4;
    });
    const StreamAction record{.kind = ActionKind::kRecord, .event = plan.events};
    const StreamAction wait{.kind = ActionKind::kWait, .stream = receives, .event = plan.events++};
    std::vector<StreamAction> moved = {record, wait};
    std::vector<StreamAction> before(block.begin(), take), after(take, block.end());
    for (const StreamAction& action : before) {
      if (action.stream == receives) moved.push_back(action);
    }
    // Waits of compute for what is posted come with it.
    std::vector<StreamAction> waits;
    std::erase_if(before, [&](const StreamAction& action) {
      const bool waits_for_posts =
          action.kind == ActionKind::kWait && action.stream == StreamPlan::kCompute &&
          std::ranges::any_of(moved, [&](const StreamAction& other) {
            return other.kind == ActionKind::kRecord && other.stream == receives && other.event == action.event;
          });
      if (waits_for_posts) waits.push_back(action);
      return action.stream == receives || waits_for_posts;
    });
    block = std::move(before);
    for (const std::vector<StreamAction>* part : {&moved, &waits, &after})
      block.insert(block.end(), part->begin(), part->end());
  }
  const std::string message(late.Check().message());
  EXPECT_THAT(message, HasSubstr("on streams the stages' programs never end: "));
  EXPECT_THAT(message, HasSubstr("stage 0's instruction 0 (send) at model.py:7:3 waits for its peer"));
  EXPECT_THAT(message, HasSubstr("stage 1's instruction 0 (send) at model.py:7:3 waits for its peer"));
}

// What the host walks between messages joins nothing of them.
TEST(Messages, GoOnWhileTheHostWalksALoop) {
  Pipeline pipeline(2);
  const uint32_t there = pipeline.AddChannel(0, 1, 1), back = pipeline.AddChannel(1, 0, 1);
  for (const uint32_t stage : {0u, 1u}) {
    pipeline.Send(stage == 0 ? there : back, 1);
    pipeline.Loop(stage, 0, 1, /*is_known=*/false);
    pipeline.Copy(stage, 2, 3);
    pipeline.Receive(stage == 0 ? back : there, 4);
  }
  const artifact::Artifact& root = pipeline.Build();
  ASSERT_TRUE(artifact::ProveMessages(root).ok());
  const Planned planned(root);
  planned.ExpectRight();
  EXPECT_LT(SegmentEnd(planned.plans[0].blocks[0], 0), planned.plans[0].blocks[0].size());
}

TEST(Messages, ThatDoNotMatchAreFound) {
  Pipeline pipeline(2);
  const uint32_t a = pipeline.AddChannel(0, 1, 1), b = pipeline.AddChannel(0, 1, 1, 2 * kWord);
  pipeline.Send(a, 0);
  pipeline.Send(b, 1);
  pipeline.Receive(b, 2);
  pipeline.Receive(a, 4);
  const artifact::Artifact& root = pipeline.Build();
  const Planned planned(root);
  planned.ExpectRight();
  Planned crossed = planned;
  StreamBlock& block = crossed.plans[1].blocks[0];
  std::vector<StreamAction*> posts;
  for (StreamAction& action : block) {
    if (action.kind == ActionKind::kPost) posts.push_back(&action);
  }
  ASSERT_EQ(posts.size(), 2u);
  std::swap(*posts[0], *posts[1]);
  EXPECT_THAT(std::string(crossed.Check().message()),
              HasSubstr("stage 0's instruction 0 (send) at model.py:7:3 sends 8 bytes by channel 0 where stage 1's "
                        "instruction 0 (receive) at model.py:7:3 is posted for 16 bytes of channel 1"));
  Planned lost = planned;
  std::erase_if(lost.plans[1].blocks[0], [](const StreamAction& action) { return action.kind == ActionKind::kPost; });
  EXPECT_THAT(std::string(lost.Check().message()),
              HasSubstr("instruction 0 (send) at model.py:7:3 waits for its peer"));
}

TEST(Messages, TooManyOfAStepAreRefused) {
  Pipeline pipeline(2);
  const uint32_t channel = pipeline.AddChannel(0, 1, 1);
  pipeline.Loop(0, 1 << 20, 1);
  pipeline.Send(channel, 0);
  pipeline.Loop(1, 1 << 20, 1);
  pipeline.Receive(channel, 1);
  const artifact::Artifact& root = pipeline.Build();
  const absl::Status status = PlanStreams(root, *root.programs()->Get(0)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("program 'main': stage 0 sends and receives more than 262144"));
}

// One execution of all stages, written down: so there is an order in which they end.
void AddRound(Pipeline& pipeline, uint32_t stages, std::vector<std::pair<uint32_t, uint32_t>>& depths,
              std::mt19937& random) {
  std::vector<uint32_t> under_way(depths.size(), 0);
  const auto word = [&] { return random() % kWords; };
  for (int i = 0; i < 24; ++i) {
    const uint32_t channel = static_cast<uint32_t>(random() % depths.size());
    if (random() % 3 == 0) {
      pipeline.Copy(static_cast<uint32_t>(random() % stages), word(), word());
    } else if (under_way[channel] < depths[channel].second && random() % 2 == 0) {
      pipeline.Send(channel, word());
      ++under_way[channel];
    } else if (under_way[channel] > 0) {
      pipeline.Receive(channel, word());
      --under_way[channel];
    }
  }
  for (uint32_t channel = 0; channel < depths.size(); ++channel) {
    for (; under_way[channel] > 0; --under_way[channel]) pipeline.Receive(channel, word());
  }
}

TEST(Messages, RandomPipelines) {
  size_t waits = 0, found = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t stages = 2 + static_cast<uint32_t>(random() % 3);
    Pipeline pipeline(stages);
    std::vector<std::pair<uint32_t, uint32_t>> depths;
    for (int i = 0; i < 5; ++i) {
      const uint32_t from = static_cast<uint32_t>(random() % stages);
      const uint32_t to = (from + 1 + static_cast<uint32_t>(random() % (stages - 1))) % stages;
      const uint32_t depth = 1 + static_cast<uint32_t>(random() % 3);
      depths.emplace_back(pipeline.AddChannel(from, to, depth), depth);
    }
    AddRound(pipeline, stages, depths, random);
    if (random() % 2 == 0) pipeline.LoopAll(1 + random() % 4);
    const artifact::Artifact& root = pipeline.Build();
    ASSERT_TRUE(artifact::ProveMessages(root).ok()) << artifact::ProveMessages(root);
    const Planned planned(root);
    planned.ExpectRight();
    // Without one of the waits for links, or of links, bytes race.
    for (size_t stage = 0; stage < stages; ++stage) {
      const StreamPlan& plan = planned.plans[stage];
      std::vector<bool> has_forked(plan.streams(), false);
      for (size_t i = 0; i < plan.blocks[0].size(); ++i) {
        const StreamAction& action = plan.blocks[0][i];
        if (action.kind != ActionKind::kWait) continue;
        if (plan.IsLink(action.stream) && !has_forked[action.stream]) {
          has_forked[action.stream] = true;
          continue;
        }
        StreamPlan less = plan;
        less.blocks[0].erase(less.blocks[0].begin() + static_cast<std::ptrdiff_t>(i));
        ++waits;
        found += CheckStreams(*planned.programs[stage], less).empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(waits, 1000u);
  EXPECT_EQ(found, waits);
}

}  // namespace
}  // namespace sgd::device
