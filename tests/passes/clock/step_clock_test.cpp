// Small steps beside what they must take by hand.
#include "passes/clock/step_clock.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

using Kind = StepEvent::Kind;
using testing::ElementsAre;

StepEvent work(double seconds) { return {.kind = Kind::Compute, .seconds = seconds}; }
StepEvent loop(uint64_t trips, size_t body) { return {.kind = Kind::Loop, .trips = trips, .body = body}; }
StepEvent send(double seconds = 0, double copy = 0) {
  return {.kind = Kind::Send, .seconds = seconds, .copySeconds = copy};
}
StepEvent receive(double copy = 0) { return {.kind = Kind::Receive, .copySeconds = copy}; }
StageProgram stage(std::vector<StepEvent> events) {
  StageProgram program;
  program.events = std::move(events);
  return program;
}

StepTimes run(std::vector<StageProgram> stages, std::vector<StepChannel> channels = {}, unsigned numLinks = 1) {
  llvm::Expected<StepTimes> times = runStep(stages, channels, numLinks);
  EXPECT_TRUE(bool(times));
  return std::move(*times);
}

// Three parts go forward through two stages, a second each: the second stage waits for the first part, the first stage
// is done a second earlier.
TEST(StepClock, AFilledPipeline) {
  StepTimes times = run({stage({loop(3, 2), work(1), send()}), stage({loop(3, 2), receive(), work(1)})}, {{3}});
  EXPECT_DOUBLE_EQ(times.seconds, 4);
  EXPECT_DOUBLE_EQ(times.getBubble(), 0.25);
  EXPECT_DOUBLE_EQ(times.stages[0].getBusy(), 3);
  EXPECT_DOUBLE_EQ(times.stages[1].messageWaits, 1);
}

// With one place, a slow reader holds the writer back: from its second send on.
TEST(StepClock, PlacesAreWaitedFor) {
  for (auto [depth, seconds] : {std::pair(1u, 16.0), std::pair(3u, 14.5)}) {
    StepTimes times =
        run({stage({loop(3, 2), work(1), send(), work(10)}), stage({loop(3, 2), receive(0.5), work(4)})}, {{depth}});
    EXPECT_DOUBLE_EQ(times.seconds, seconds);
  }
}

TEST(StepClock, WaitingForeverFails) {
  llvm::Expected<StepTimes> times = runStep({stage({receive()})}, {{1}}, 1);
  EXPECT_EQ(llvm::toString(times.takeError()), "stages wait for each other's messages forever");
}

// A stage goes on while its messages are on their way, one behind the other: they come after 4, 7 and 10 seconds.
TEST(StepClock, MessagesBesideCompute) {
  StepTimes times = run({stage({loop(3, 2), work(1), send(3)}), stage({loop(3, 2), receive(), work(1)})}, {{3}});
  EXPECT_DOUBLE_EQ(times.seconds, 11);
  EXPECT_DOUBLE_EQ(times.stages[0].compute, 3);
  EXPECT_DOUBLE_EQ(times.stages[0].communication, 9);
}

TEST(StepClock, RanksThatCopyAreBusy) {
  StepTimes times = run({stage({send(3, 2)}), stage({receive(4)})}, {{1}});
  EXPECT_DOUBLE_EQ(times.seconds, 9);
  EXPECT_DOUBLE_EQ(times.stages[0].compute, 2);
  EXPECT_DOUBLE_EQ(times.stages[1].messageWaits, 5);
}

/// Stream 1 does a collective of 5 seconds that stream 0 starts after 1 and needs after 3.
StageProgram overlapped(StreamKind beside) {
  StageProgram program;
  program.streams = {StreamKind::Compute, beside};
  program.eventStream = {0, 1};
  Kind kind = beside == StreamKind::Collectives ? Kind::Collective : Kind::Compute;
  program.events = {work(1),
                    {.kind = Kind::Record, .stream = 0, .number = 0},
                    {.kind = Kind::Wait, .stream = 1, .number = 0},
                    {.kind = kind, .stream = 1, .seconds = 5},
                    {.kind = Kind::Record, .stream = 1, .number = 1},
                    work(2),
                    {.kind = Kind::Wait, .stream = 0, .number = 1},
                    work(1)};
  return program;
}

TEST(StepClock, StreamsMeetAtEvents) {
  StepTimes times = run({overlapped(StreamKind::Collectives)});
  EXPECT_DOUBLE_EQ(times.seconds, 7);
  EXPECT_DOUBLE_EQ(times.stages[0].compute, 4);
  EXPECT_DOUBLE_EQ(times.stages[0].exposed, 3);
  EXPECT_DOUBLE_EQ(times.stages[0].communication, 5);
}

TEST(StepClock, WaitsForHostCopiesAreCountedAlone) {
  StepTimes times = run({overlapped(StreamKind::HostCopies)});
  EXPECT_DOUBLE_EQ(times.stages[0].hostWaits, 3);
  EXPECT_DOUBLE_EQ(times.stages[0].exposed, 0);
  EXPECT_DOUBLE_EQ(times.stages[0].getBusy(), times.seconds);
}

TEST(StepClock, IntervalsAreInOrder) {
  llvm::Expected<StepTimes> times = runStep({overlapped(StreamKind::Collectives)}, {}, 1, /*keepsIntervals=*/true);
  ASSERT_TRUE(bool(times));
  std::vector<std::pair<double, double>> computing;
  for (const Interval& interval : times->stages[0].intervals)
    if (interval.lane == Interval::Lane::Compute) computing.push_back({interval.begin, interval.end});
  EXPECT_THAT(computing, ElementsAre(std::pair(0.0, 1.0), std::pair(1.0, 3.0), std::pair(6.0, 7.0)));
}

// A message is sent when it is posted, and its stream is busy until it has come.
TEST(StepClock, PostedMessages) {
  StageProgram sender, receiver;
  sender.streams = receiver.streams = {StreamKind::Compute, StreamKind::Messages};
  receiver.eventStream = {1};
  sender.events = {{.kind = Kind::SendPosted, .stream = 1, .seconds = 3}};
  receiver.events = {{.kind = Kind::Compute, .stream = 1, .seconds = 2},
                     {.kind = Kind::Post, .stream = 1},
                     {.kind = Kind::Record, .stream = 1, .number = 0},
                     {.kind = Kind::Wait, .stream = 0, .number = 0},
                     work(1)};
  StepTimes times = run({sender, receiver}, {{1}});
  EXPECT_DOUBLE_EQ(times.seconds, 6);
  EXPECT_DOUBLE_EQ(times.stages[1].messageWaits, 5);
}

}  // namespace
}  // namespace mlir::sgd
