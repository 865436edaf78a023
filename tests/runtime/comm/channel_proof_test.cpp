// Programs that fit, and ones that do not, by what the message says of them.
#include "runtime/comm/collectives/channel_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Kind = ChannelEvent::Kind;

ChannelEvent Send(uint32_t channel, uint64_t bytes = 8) { return {Kind::kSend, channel, bytes}; }
ChannelEvent Receive(uint32_t channel, uint64_t bytes = 8) { return {Kind::kReceive, channel, bytes}; }
ChannelEvent Loop(uint64_t trips, uint64_t body) { return {Kind::kLoop, 0, 0, trips, body}; }

absl::Status Prove(const std::vector<ChannelShape>& channels, std::vector<std::vector<ChannelEvent>> programs) {
  std::vector<StageEvents> stages;
  for (std::vector<ChannelEvent>& events : programs) {
    for (uint64_t i = 0; i < events.size(); ++i) events[i].id = i;
    stages.push_back({events, [](uint64_t id) { return absl::StrCat("event ", id); }});
  }
  return ProveChannels(channels, stages);
}

void ExpectRefused(const absl::Status& status, const std::string& text) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST(ChannelProof, NothingToProve) { EXPECT_TRUE(Prove({}, {{}, {}}).ok()); }

TEST(ChannelProof, OneForwardOneBackward) {
  // Two stages, four parts: 0 is ahead by one.
  EXPECT_TRUE(Prove({{0, 1, 1}, {1, 0, 1}},
                    {{Send(0), Loop(3, 2), Send(0), Receive(1), Receive(1)}, {Loop(4, 2), Receive(0), Send(1)}})
                  .ok());
}

TEST(ChannelProof, SendsNeedPlaces) {
  const std::vector<std::vector<ChannelEvent>> programs = {{Loop(2, 1), Send(0), Receive(1)},
                                                           {Send(1), Loop(2, 1), Receive(0)}};
  EXPECT_TRUE(Prove({{0, 1, 2}, {1, 0, 1}}, programs).ok());
  EXPECT_TRUE(Prove({{0, 1, 1}, {1, 0, 1}}, programs).ok());
}

TEST(ChannelProof, NamesTheCircle) {
  const absl::Status status = Prove({{0, 1, 1}, {1, 0, 1}}, {{Receive(1), Send(0)}, {Receive(0), Send(1)}});
  ExpectRefused(status,
                "the stages' programs never end: stage 0's event 0 waits for a message of channel 1 from stage "
                "1 to stage 0; stage 1's event 0 waits for a message of channel 0 from stage 0 to stage 1");
}

// Each sends twice before it receives: with two places this ends, with one both wait.
TEST(ChannelProof, DepthDecides) {
  const std::vector<std::vector<ChannelEvent>> programs = {{Send(0), Send(0), Receive(1), Receive(1)},
                                                           {Send(1), Send(1), Receive(0), Receive(0)}};
  EXPECT_TRUE(Prove({{0, 1, 2}, {1, 0, 2}}, programs).ok());
  EXPECT_TRUE(Prove({{0, 1, 1}, {1, 0, 2}}, programs).ok());
  ExpectRefused(Prove({{0, 1, 1}, {1, 0, 1}}, programs), "stage 0's event 1 waits for a free place in channel 0");
}

TEST(ChannelProof, Sizes) {
  ExpectRefused(
      Prove({{0, 1, 1}}, {{Send(0, 16)}, {Receive(0, 12)}}),
      "stage 1's event 0: expects 12 bytes of channel 0 from stage 0 to stage 1 where stage 0's event 0 sends "
      "16");
}

TEST(ChannelProof, NeverReceived) {
  ExpectRefused(Prove({{0, 1, 4}}, {{Send(0), Send(0)}, {Receive(0)}}),
                "stage 0's event 1: a message of channel 0 from stage 0 to stage 1 is never received");
}

TEST(ChannelProof, NeverSent) {
  ExpectRefused(Prove({{0, 1, 4}}, {{Send(0)}, {Receive(0), Receive(0)}}), "stage 1's event 1 waits for a message");
}

TEST(ChannelProof, ForeignChannels) {
  ExpectRefused(Prove({{0, 1, 1}}, {{Receive(0)}, {}}), "stage 0's event 0: receives from channel 0 from stage 0");
  ExpectRefused(Prove({{0, 1, 1}}, {{Send(7)}, {}}), "names channel 7 of 1");
  ExpectRefused(Prove({{0, 5, 1}}, {{Send(0)}, {}}), "is not between two of 2 stages");
}

TEST(ChannelProof, LoopsLieInsideOfEachOther) {
  ExpectRefused(Prove({{0, 1, 1}}, {{Loop(1, 5), Send(0)}, {Receive(0)}}), "a loop runs events that are not there");
  ExpectRefused(Prove({{0, 1, 1}}, {{Loop(1, 1), Loop(1, 1), Send(0)}, {Receive(0)}}), "events that are not there");
}

// Trips without messages take no time, however many there are.
TEST(ChannelProof, EmptyTrips) {
  const uint64_t many = ~uint64_t{0};
  EXPECT_TRUE(Prove({{0, 1, 1}}, {{Loop(many, 2), Loop(0, 1), Send(0), Loop(many, 0)}, {}}).ok());
}

TEST(ChannelProof, TooManyMessages) {
  const uint64_t many = uint64_t{1} << 40;
  const absl::Status status = Prove({{0, 1, 1}}, {{Loop(many, 1), Send(0)}, {Loop(many, 1), Receive(0)}});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("make loops shorter"));
}

// What the proof says of random programs is what happens when stages run in any order.
class RandomOrder {
 public:
  RandomOrder(const std::vector<ChannelShape>& channels, const std::vector<std::vector<ChannelEvent>>& programs)
      : channels_(channels), programs_(programs), at_(programs.size()), queued_(channels.size()) {}

  // Whether all end with nothing left.
  bool Run(std::mt19937& random) {
    while (true) {
      std::vector<size_t> able;
      for (size_t stage = 0; stage < programs_.size(); ++stage)
        if (IsAble(stage)) able.push_back(stage);
      if (able.empty()) break;
      const size_t stage = able[random() % able.size()];
      const ChannelEvent& event = programs_[stage][at_[stage]++];
      queued_[event.channel] += event.kind == Kind::kSend ? 1 : -1;
    }
    for (size_t stage = 0; stage < programs_.size(); ++stage)
      if (at_[stage] != programs_[stage].size()) return false;
    return std::all_of(queued_.begin(), queued_.end(), [](int64_t queued) { return queued == 0; });
  }

 private:
  bool IsAble(size_t stage) const {
    if (at_[stage] == programs_[stage].size()) return false;
    const ChannelEvent& event = programs_[stage][at_[stage]];
    return event.kind == Kind::kSend ? queued_[event.channel] < channels_[event.channel].depth
                                     : queued_[event.channel] > 0;
  }

  const std::vector<ChannelShape>& channels_;
  const std::vector<std::vector<ChannelEvent>>& programs_;
  std::vector<size_t> at_;
  std::vector<int64_t> queued_;
};

TEST(ChannelProof, RandomPrograms) {
  std::mt19937 random(7);
  int proven = 0;
  constexpr int kPrograms = 2000;
  for (int trial = 0; trial < kPrograms; ++trial) {
    const uint32_t stages = 2 + random() % 3;
    std::vector<ChannelShape> channels;
    std::vector<std::vector<ChannelEvent>> programs(stages);
    for (uint32_t from = 0; from < stages; ++from)
      for (uint32_t to = 0; to < stages; ++to)
        if (from != to) channels.push_back({from, to, 1 + static_cast<uint32_t>(random() % 2)});
    // In an order that works, then disturbed.
    const uint32_t messages = 1 + random() % 8;
    for (uint32_t i = 0; i < messages; ++i) {
      const uint32_t channel = random() % channels.size();
      programs[channels[channel].from_stage].push_back(Send(channel));
      programs[channels[channel].to_stage].push_back(Receive(channel));
    }
    for (std::vector<ChannelEvent>& program : programs)
      if (program.size() > 1 && random() % 2 == 0) std::swap(program[random() % program.size()], program.front());
    const bool is_proven = Prove(channels, programs).ok();
    proven += is_proven;
    for (int order = 0; order < 4; ++order) EXPECT_EQ(RandomOrder(channels, programs).Run(random), is_proven) << trial;
  }
  EXPECT_GT(proven, kPrograms / 10);
  EXPECT_LT(proven, kPrograms * 9 / 10);
}

}  // namespace
}  // namespace sgd::comm
