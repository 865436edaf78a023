// What people read of a run, and the logs that it is read from.
#include "runtime/watch/status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/watch/live_block.h"
#include "runtime/watch/log_file.h"
#include "runtime/watch/plot.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::watch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(StatusText, ShowsWhatIsKnown) {
  JobStatus status{.steps_done = 417, .steps_planned = 1000};
  status.least_seconds = 0.0187, status.median_seconds = 0.0201;
  status.rows_per_second = 6400, status.tokens_per_second = 1.2e6, status.utilization = 0.41;
  status.exposed_seconds = 0.0031, status.slowest_rank = 3, status.slowest_lead = 0.0009, status.stragglers = 1;
  status.resident_bytes = {{0, 1 << 20}, {3, uint64_t{3} << 29}};
  status.loss = 2.31, status.checkpoints = 2, status.stalled_seconds = 0.7, status.restarts = 1;
  LossHistory losses;
  for (int step = 1; step <= 4; ++step) losses.Add(static_cast<uint64_t>(step), 4.0 - step);
  EXPECT_THAT(
      StatusLines(status, losses),
      ElementsAre("step 417/1000  [=============                   ]  left 0:11",
                  "time    20.1 ms median, 18.7 ms least  6.4k rows/s  1.2M tokens/s  MFU 41.0 %", "loss    2.31  █▆▃▁",
                  "waits   3.1 ms of a step in collectives; rank 3 is slowest, by 900 us; stragglers named: 1",
                  "memory  1.50 GiB in rank 3, the largest of 2",
                  "saves   2, which held up steps for 700 ms  restarts 1"));
  EXPECT_EQ(StatusLine(status), "20.1 ms  6.4k rows/s  1.2M tokens/s  loss 2.31  left 0:11");
}

TEST(StatusText, LeavesOutWhatIsNot) {
  EXPECT_THAT(StatusLines({}, {}), ElementsAre("step 0"));
  EXPECT_EQ(StatusLine({}), "");
}

TEST(StatusText, ALongHistoryKeepsItsShape) {
  LossHistory losses;
  for (uint64_t step = 1; step <= 100'000; ++step) losses.Add(step, step <= 50'000 ? 1.0 : 2.0);
  losses.Add(3, 100.0);  // known
  const std::string line = losses.Sparkline();
  EXPECT_LE(line.size(), LossHistory::kPoints * 3);
  EXPECT_EQ(line.substr(0, 3), "▁");
  EXPECT_EQ(line.substr(line.size() - 3), "█");
  losses.Add(200'000, std::nan(""));
  EXPECT_THAT(losses.Sparkline(), HasSubstr("!"));
}

TEST(LiveBlock, DrawsInItsPlaceAndLeavesTheTerminalAsItWas) {
  std::FILE* stream = std::tmpfile();
  ASSERT_NE(stream, nullptr);
  off_t seen = 0;
  const auto drawn = [&] {
    std::string bytes(256, '\0');
    bytes.resize(static_cast<size_t>(pread(fileno(stream), bytes.data(), bytes.size(), seen)));
    seen += static_cast<off_t>(bytes.size());
    return bytes;
  };
  LiveBlock block(stream);
  block.Draw({"a", "b"});
  EXPECT_EQ(drawn(), "\033[?7l\r\033[Ka\n\033[Kb\n\033[J\033[?7h");
  block.Draw({"c"});
  EXPECT_EQ(drawn(), "\033[?7l\r\033[2A\033[Kc\n\033[J\033[?7h");
  block.Line("note");
  EXPECT_EQ(drawn(), "\r\033[1A\033[Jnote\n\033[?7l\r\033[Kc\n\033[J\033[?7h");
  std::fclose(stream);
}

class LogFile : public ::testing::Test {
 protected:
  absl::StatusOr<LogContent> Read(const std::string& text) {
    data::WriteText(folder_ / "log", text);
    return ReadLog(folder_ / "log");
  }
  data::TemporaryFolder folder_;
};

TEST_F(LogFile, ReadsStepsAndEvents) {
  const auto log = Read(
      "{\"step\": 0, \"seconds\": 0.5, \"loss\": 2, \"outputs\": {}}\n"
      "{\"step\": 1, \"seconds\": 0.25, \"loss\": null, \"outputs\": {}, \"eval\": {\"x\": 1}}\n"
      "{\"event\": \"rank_lost\", \"rank\": 1, \"step\": 1}\n"
      "{\"step\": 1, \"sec\n"
      "{\"event\": \"resumed\", \"ranks\": 2}\n"
      "{\"step\": 1, \"seconds\": 0.125, \"loss\": 1.5, \"outputs\": {}}\n"
      "{\"event\": \"straggler\", \"rank\": 1}\n{\"step\": 2, \"secon");
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_THAT(log->steps, SizeIs(3));
  EXPECT_FALSE(log->steps[1].loss.has_value());
  ASSERT_THAT(log->events, SizeIs(3));
  EXPECT_EQ(log->events[1].kind, "resumed");
  EXPECT_EQ(log->events[1].step, 2);
  const JobStatus status = log->Status();
  EXPECT_EQ(status.steps_done, 2);
  EXPECT_EQ(status.loss, 1.5);
  EXPECT_EQ(status.restarts, 1);
  EXPECT_EQ(status.stragglers, 1);
  EXPECT_EQ(status.median_seconds, 0.25);
}

TEST_F(LogFile, FollowsWhatIsAppended) {
  const std::string path = folder_ / "log";
  const std::string line = "{\"step\": 0, \"seconds\": 0.5, \"loss\": 2, \"outputs\": {}}\n";
  LogFollower follower(path);
  std::string text;
  for (size_t i = 0; i < 3 * line.size(); ++i) {
    text += line[i % line.size()];
    data::WriteText(path, text);
    ASSERT_TRUE(follower.Advance().ok()) << i;
    ASSERT_EQ(follower.content().steps.size(), (i + 1) / line.size());
  }
  data::WriteText(path, line);  // another run
  ASSERT_TRUE(follower.Advance().ok());
  EXPECT_THAT(follower.content().steps, SizeIs(1));
}

TEST_F(LogFile, RefusesOtherFiles) {
  EXPECT_THAT(Read("hello\n").status().message(), HasSubstr("log: no line of it is one of --log-json"));
  EXPECT_THAT(Read("{\"step\": -1, \"seconds\": \"x\"}\n[1]\n3\n").status().message(), HasSubstr("no line of it"));
  EXPECT_THAT(ReadLog(folder_ / "none").status().message(), HasSubstr("none: cannot read"));
  EXPECT_THAT(ReadLog(folder_.path()).status().message(), HasSubstr("is no regular file"));
  EXPECT_TRUE(Read("")->steps.empty());
}

LogContent Falling(uint64_t first, uint64_t steps) {
  LogContent log;
  for (uint64_t step = first; step < first + steps; ++step)
    log.steps.push_back({step, 0.01, 10.0 / static_cast<double>(step + 1)});
  return log;
}

TEST(Plot, DrawsCurvesAxesLegendAndRestarts) {
  LogContent second = Falling(0, 50);
  second.events = {{"rank_lost", 30}, {"resumed", 30}, {"straggler", 12}};
  const auto drawing = DrawRuns({{"a<b>.jsonl", Falling(0, 100)}, {"other.jsonl", second}});
  ASSERT_TRUE(drawing.ok()) << drawing.status();
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = drawing->find(part); at != std::string::npos; at = drawing->find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<polyline"), 6);
  EXPECT_EQ(count("stroke-dasharray"), 6);  // two events in three panels
  EXPECT_EQ(count("<title>other.jsonl: resumed</title>"), 3);
  EXPECT_EQ(count(">a&lt;b&gt;.jsonl</text>"), 1);
  EXPECT_EQ(count(">loss</text>"), 1);
  EXPECT_EQ(count(">step time in ms</text>"), 1);
  EXPECT_EQ(count(">throughput in steps per second</text>"), 1);
  EXPECT_THAT(*drawing, HasSubstr(">60</text>"));
  EXPECT_THAT(*drawing, Not(HasSubstr("nan")));
  EXPECT_TRUE(drawing->ends_with("</svg>\n"));
}

TEST(Plot, DrawsARepeatedPartAsALineOfItsOwn) {
  LogContent log = Falling(0, 50);
  for (const LoggedStep& step : Falling(30, 50).steps) log.steps.push_back(step);
  const auto drawing = DrawRuns({{"log", log}});
  size_t lines = 0;
  for (size_t at = drawing->find("<polyline"); at != std::string::npos; at = drawing->find("<polyline", at + 1))
    ++lines;
  EXPECT_EQ(lines, 6);
}

TEST(Plot, ALongLogIsThinned) { EXPECT_LT(DrawRuns({{"log", Falling(0, 200'000)}})->size(), 100'000); }

TEST(Plot, DrawsSmallAndEmptyLogs) {
  EXPECT_FALSE(DrawRuns({{"empty", {}}}).ok());
  LogContent one;
  one.steps = {{5, 0.1, std::nullopt}};
  const auto drawing = DrawRuns({{"one", one}, {"empty", {}}});
  ASSERT_TRUE(drawing.ok()) << drawing.status();
  EXPECT_THAT(*drawing, HasSubstr("loss: none in these logs"));
}

}  // namespace
}  // namespace sgd::watch
