// Checks how a step enqueues work on streams: first one by one, then recorded, then replayed, split where the host has
// to look.
#include "runtime/exec/stream_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::exec {
namespace {

using artifact::ProgramT;
using artifact::Slice;
using artifact::Space;
using ::testing::ElementsAre;

// Writes down what it is given.
class LoggedStreams final : public device::Streams {
 public:
  absl::Status Reserve(uint32_t, uint32_t) override { return absl::OkStatus(); }
  void Use(uint32_t) override {}
  absl::Status Record(uint32_t, uint32_t) override { return absl::OkStatus(); }
  absl::Status Wait(uint32_t, uint32_t) override { return absl::OkStatus(); }
  absl::Status BeginRecording() override {
    log.push_back("record");
    return absl::OkStatus();
  }
  device::PreparedThunk EndRecording() override {
    log.push_back("end");
    return std::make_unique<Replay>(log);
  }
  absl::StatusOr<std::unique_ptr<device::Event>> MakeEvent(bool) override { return absl::UnimplementedError("events"); }
  absl::StatusOr<bool> IsIdle() override { return true; }

  std::vector<std::string> log;

 private:
  class Replay final : public device::Thunk {
   public:
    explicit Replay(std::vector<std::string>& log) : log_(log) {}
    absl::Status Execute() override {
      log_.push_back("replay");
      return absl::OkStatus();
    }

   private:
    std::vector<std::string>& log_;
  };
};

void AddFill(ProgramT& program, uint64_t offset) {
  artifact::FillT fill;
  fill.target = testing::SliceAt(Space::Private, offset, 4);
  fill.pattern = {1};
  testing::Append(program, std::move(fill));
}

class StreamStepTest : public ::testing::Test {
 protected:
  void Make(const ProgramT& program, bool records = true) {
    builder_.Finish(artifact::CreateProgram(builder_, &program));
    StreamStep::Hooks hooks;
    hooks.enqueue = [this](const device::StreamAction& action) {
      streams_.log.push_back(absl::StrCat(action.instruction));
      return failing_ == action.instruction ? absl::InternalError("broken") : absl::OkStatus();
    };
    hooks.begin_loop = [](uint32_t) {};
    hooks.begin_trip = [](uint64_t, bool) { return absl::OkStatus(); };
    hooks.end_loop = [] {};
    hooks.wait = [this] {
      streams_.log.push_back("wait");
      return absl::OkStatus();
    };
    // The byte or number that decides: what is left of `decisions_`.
    hooks.read = [this](const Slice&, std::span<std::byte> target) {
      std::ranges::fill(target, std::byte{0});
      target[0] = std::byte{decisions_.back()};
      decisions_.pop_back();
      return absl::OkStatus();
    };
    hooks.sent_bytes = [] { return uint64_t{0}; };
    hooks.count_sent = [](uint64_t) {};
    const auto& built = *flatbuffers::GetRoot<artifact::Program>(builder_.GetBufferPointer());
    step_ = *StreamStep::Create(streams_, built, device::PlanStreams(built), std::move(hooks), records);
  }

  std::vector<std::string> Run(const StreamStep::Frame& frame = {}) {
    streams_.log.clear();
    status_ = step_->Run(frame);
    return streams_.log;
  }

  StreamStep::Frame Frame(uint32_t variant) {
    const auto log = [this, variant](const char* what) {
      return [this, variant, what] {
        streams_.log.push_back(absl::StrCat(what, variant));
        return absl::OkStatus();
      };
    };
    return {.variant = variant, .before = log("before"), .after = log("after")};
  }

  static ProgramT Program() {
    ProgramT program;
    program.name = "main";
    return program;
  }

  flatbuffers::FlatBufferBuilder builder_;
  LoggedStreams streams_;
  std::unique_ptr<StreamStep> step_;
  std::vector<uint8_t> decisions_;
  uint32_t failing_ = UINT32_MAX;
  absl::Status status_;
};

TEST_F(StreamStepTest, IsRecordedWhenItComesAgain) {
  ProgramT program = Program();
  AddFill(program, 0);
  AddFill(program, 4);
  Make(program);
  EXPECT_THAT(Run(), ElementsAre("0", "1"));
  EXPECT_THAT(Run(), ElementsAre("record", "0", "1", "end", "replay"));
  EXPECT_THAT(Run(), ElementsAre("replay"));
  EXPECT_THAT(Run(), ElementsAre("replay"));
}

TEST_F(StreamStepTest, IsNeverRecordedWhereThatIsNotWanted) {
  ProgramT program = Program();
  AddFill(program, 0);
  AddFill(program, 4);
  Make(program, /*records=*/false);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Run(), ElementsAre("0", "1"));
}

TEST_F(StreamStepTest, LoopsOfKnownTripsAreUnrolled) {
  ProgramT program = Program();
  artifact::LoopT loop;
  loop.trips = 3;
  loop.body = 1;
  testing::Append(program, std::move(loop));
  AddFill(program, 0);
  AddFill(program, 4);
  Make(program);
  EXPECT_THAT(Run(), ElementsAre("1", "1", "1", "2"));
  EXPECT_THAT(Run(), ElementsAre("record", "1", "1", "1", "2", "end", "replay"));
  EXPECT_THAT(Run(), ElementsAre("replay"));
}

TEST_F(StreamStepTest, VeryLongLoopsReplayTheirTrips) {
  ProgramT program = Program();
  artifact::LoopT loop;
  loop.trips = 30000;
  loop.body = 2;
  testing::Append(program, std::move(loop));
  AddFill(program, 0);
  AddFill(program, 4);
  Make(program);
  const std::vector<std::string> log = Run();
  ASSERT_EQ(log.size(), 2 + 5 + 30000 - 2);
  EXPECT_EQ(log[0], "1");
  EXPECT_EQ(log[2], "record");
  EXPECT_EQ(log.back(), "replay");
}

TEST_F(StreamStepTest, LoopsThatTheHostDecides) {
  ProgramT program = Program();
  AddFill(program, 0);
  artifact::LoopT loop;
  loop.condition = 1;
  loop.body = 2;
  loop.predicate = testing::SliceAt(Space::Private, 64, 1);
  testing::Append(program, std::move(loop));
  for (uint64_t offset : {64, 0, 4}) AddFill(program, offset);
  AddFill(program, 8);
  Make(program);
  decisions_ = {0, 1, 1};
  EXPECT_THAT(Run(), ElementsAre("0", "2", "wait", "3", "4", "2", "wait", "record", "3", "4", "end", "replay", "2",
                                 "wait", "5"));
  decisions_ = {0};
  EXPECT_THAT(Run(), ElementsAre("0", "2", "wait", "5"));
  decisions_ = {0, 1};
  EXPECT_THAT(Run(), ElementsAre("0", "2", "wait", "replay", "2", "wait", "5"));
}

TEST_F(StreamStepTest, CasesTakeTheirBranchAndElseTheLast) {
  ProgramT program = Program();
  artifact::CaseT branches;
  branches.index = testing::SliceAt(Space::Private, 64, 4);
  branches.branches = {1, 2};
  testing::Append(program, std::move(branches));
  for (uint64_t offset : {0, 4, 8}) AddFill(program, offset);
  Make(program);
  decisions_ = {0};
  EXPECT_THAT(Run(), ElementsAre("wait", "1"));
  decisions_ = {1};
  EXPECT_THAT(Run(), ElementsAre("wait", "2", "3"));
  decisions_ = {7};
  EXPECT_THAT(Run(), ElementsAre("wait", "record", "2", "3", "end", "replay"));
}

TEST_F(StreamStepTest, WhatFramesAStepIsRecordedWithIt) {
  ProgramT program = Program();
  AddFill(program, 0);
  Make(program);
  EXPECT_THAT(Run(Frame(0)), ElementsAre("before0", "0", "after0"));
  EXPECT_THAT(Run(Frame(1)), ElementsAre("record", "before1", "0", "after1", "end", "replay"));
  EXPECT_THAT(Run(Frame(0)), ElementsAre("record", "before0", "0", "after0", "end", "replay"));
  EXPECT_THAT(Run(Frame(1)), ElementsAre("replay"));
  EXPECT_THAT(Run(Frame(0)), ElementsAre("replay"));
}

TEST_F(StreamStepTest, WhatFramesAStepStandsAroundWhatTheHostDecides) {
  ProgramT program = Program();
  artifact::CaseT branches;
  branches.index = testing::SliceAt(Space::Private, 64, 4);
  branches.branches = {1};
  testing::Append(program, std::move(branches));
  AddFill(program, 0);
  Make(program);
  decisions_ = {0, 0};
  EXPECT_THAT(Run(Frame(0)), ElementsAre("before0", "wait", "1", "after0"));
  EXPECT_THAT(Run(Frame(1)),
              ElementsAre("record", "before1", "end", "replay", "wait", "1", "record", "after1", "end", "replay"));
}

TEST_F(StreamStepTest, AnErrorWhileItRecordsEndsTheRecording) {
  ProgramT program = Program();
  AddFill(program, 0);
  AddFill(program, 4);
  Make(program);
  Run();
  failing_ = 1;
  EXPECT_THAT(Run(), ElementsAre("record", "0", "1", "end"));
  EXPECT_EQ(status_, absl::InternalError("broken"));
}

}  // namespace
}  // namespace sgd::exec
