// Rings are read after their writers, whatever they hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "runtime/artifact/bundle.h"
#include "runtime/watch/flight_ring.h"
#include "runtime/watch/flight_trace.h"
#include "tests/runtime/comm/rank_threads.h"
#include "tests/runtime/data/tensor_files.h"
#include "tests/tools/toy_artifact.h"

namespace sgd::watch {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint64_t kFlightSeed = 7;

class Flight : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_ / "toy.sgda";
    WriteToyArtifact(path, {});
    absl::StatusOr<artifact::Bundle> bundle = artifact::Bundle::Open(path);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    auto file = bundle->Load({});
    ASSERT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
    auto board = FlightBoard::Create(3);
    ASSERT_TRUE(board.ok()) << board.status();
    board_ = *std::move(board);
  }

  FlightRing& ring() { return board_->ring(1); }
  RankFlight Read() { return ReadFlight(ring(), file_->root(), 1, SteadyNanoseconds()); }
  static nlohmann::json Parse(const std::vector<RankFlight>& ranks) {
    return nlohmann::json::parse(FlightTraceJson(ranks, 4, "rank 5: killed"));
  }

  data::TemporaryFolder folder_;
  std::unique_ptr<artifact::ArtifactFile> file_;
  std::unique_ptr<FlightBoard> board_;
};

TEST_F(Flight, SaysWhereARankWas) {
  EXPECT_EQ(Read().where, "had not begun a step");
  ring().Write(FlightKind::kFills, 0);
  EXPECT_THAT(Read().where, StartsWith("filled the inputs of the step behind an unknown step, for "));
  ring().Write(FlightKind::kStep, 17, 0);
  EXPECT_THAT(Read().where, StartsWith("step 17 of 'train', at its begin, for "));
  ring().Write(FlightKind::kInstruction, 1);
  EXPECT_THAT(Read().where, StartsWith("step 17 of 'train', instruction 1 ("));
  ring().Write(FlightKind::kWaited, 0);
  EXPECT_THAT(Read().where, StartsWith("step 17 of 'train', behind instruction 1 ("));
  ring().Write(FlightKind::kStepEnded, 17);
  EXPECT_THAT(Read().where, StartsWith("behind step 17 of 'train', for "));
  ring().Write(FlightKind::kSaves, 0);
  EXPECT_THAT(Read().where, StartsWith("saved behind step 17 of 'train', for "));
}

TEST_F(Flight, IsATimelineOfAllRanks) {
  ring().Write(FlightKind::kFills, 0);
  ring().Write(FlightKind::kStep, 17, 0);
  ring().Write(FlightKind::kInstruction, 0);
  ring().Write(FlightKind::kInstruction, 1);
  const nlohmann::json trace = Parse({ReadFlight(board_->ring(0), file_->root(), 4, SteadyNanoseconds()), Read()});
  EXPECT_EQ(trace["otherData"]["cause"], "rank 5: killed");
  EXPECT_EQ(trace["otherData"]["rank 4"], "had not begun a step");
  EXPECT_THAT(trace["otherData"]["rank 5"].get<std::string>(), StartsWith("step 17 of 'train', instruction 1 ("));
  std::vector<std::string> bars;
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") bars.push_back(event["name"]);
    if (event["ph"] == "X") EXPECT_GE(event["dur"].get<double>(), 0);
  }
  ASSERT_EQ(bars.size(), 4);
  EXPECT_EQ(bars[2], "inputs");
  EXPECT_EQ(bars[3], "step 17");
}

TEST_F(Flight, KeepsTheLastRecords) {
  for (uint64_t step = 0; step < 3 * FlightRing::kRecords; ++step) ring().Write(FlightKind::kStep, step, 0);
  EXPECT_THAT(Read().where, StartsWith("step 98303 of 'train'"));
  EXPECT_EQ(board_->ring(0).written, 0);
  EXPECT_EQ(board_->ring(2).written, 0);
}

TEST_F(Flight, RecordsMayBeAnything) {
  std::mt19937_64 random(kFlightSeed);
  for (int round = 0; round < 50; ++round) {
    const uint64_t written = random() % 200;
    for (uint64_t i = 0; i < written; ++i) {
      FlightRecord& record = ring().records[i];
      record.nanoseconds = static_cast<int64_t>(round % 2 == 0 ? random() >> (random() % 64) : SteadyNanoseconds());
      record.number = static_cast<uint32_t>(random() % (round % 3 == 0 ? 8 : UINT32_MAX));
      record.kind = static_cast<FlightKind>(random() % 9);
      record.program = static_cast<uint16_t>(random() % 3);
    }
    ring().written = written;
    EXPECT_NO_THROW(Parse({Read()})) << kFlightSeed;
  }
  ring().written = UINT64_MAX;
  EXPECT_NO_THROW(Parse({Read()}));
}

TEST_F(Flight, OutlivesItsWriter) {
  if (!comm::CanRunAsProcesses()) GTEST_SKIP() << "no processes under this sanitizer";
  const pid_t child = fork();
  if (child == 0) {
    ring().Write(FlightKind::kStep, 5, 0);
    ring().Write(FlightKind::kInstruction, 0);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_THAT(Read().where, StartsWith("step 5 of 'train', instruction 0 ("));
}

TEST_F(Flight, NamesEightRanksAtMost) {
  const std::vector<RankFlight> ranks(10, RankFlight{.where = "here", .events = ""});
  EXPECT_THAT(FlightText(ranks, 2), HasSubstr("rank 2: here; rank 3: here; "));
  EXPECT_THAT(FlightText(ranks, 2), HasSubstr("rank 9: here; and 2 more ranks"));
}

}  // namespace
}  // namespace sgd::watch
