// Checkpoints that a saver leaves in its folder, and what it says when old ones stay.
#include "runtime/train/checkpoint_saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/runtime/comm/meeting_threads.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::train {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NoteTaker : public TrainObserver {
 public:
  absl::Status StepEnded(const trace::StepRecord&, const EvalMeans*) override { return absl::OkStatus(); }
  void Stopped(const StopRecord&) override {}
  void Note(const std::string& text) override { notes.emplace_back(text); }

  std::vector<std::string> notes;
};

// Saves after these numbers of steps on two ranks; the state is their number.
std::vector<std::string> SaveAll(const std::string& directory, uint64_t keep, const std::vector<uint64_t>& steps) {
  NoteTaker taker;
  const std::vector<absl::Status> outcomes = comm::RunMeetingRanks(2, [&](comm::Control& control) {
    int32_t value = 0;
    const comm::Mesh mesh{{2}};
    const data::Shard shard({data::ElementType::I32, {}, {}, {}}, mesh, control.rank());
    const auto state = [&] {
      return std::vector<checkpoint::LocalTensor>{{"count", shard, std::as_bytes(std::span(&value, 1))}};
    };
    CheckpointSaver saver({.directory = directory,
                           .keep = {.last = keep},
                           .deadline = absl::Seconds(10),
                           .point = {.step = 0,
                                     .seed = 3,
                                     .program = "train",
                                     .artifact_hash = "abc",
                                     .mesh = {},
                                     .feed = "rows 10",
                                     .carry = "c"}},
                          state, control, control.rank() == 0 ? &taker : nullptr);
    for (const uint64_t step : steps) {
      value = static_cast<int32_t>(step);
      if (absl::Status status = saver.Save(step); !status.ok()) return status;
      // Rank 0 may still be removing when the others go on.
      if (absl::Status status = control.Barrier(absl::Seconds(10)); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
  for (const absl::Status& outcome : outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
  return taker.notes;
}

std::set<std::string> Names(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

TEST(CheckpointSaver, KeepsAllUnlessTold) {
  data::TemporaryFolder folder;
  EXPECT_THAT(SaveAll(folder.path(), 0, {1, 2, 3}), IsEmpty());
  EXPECT_THAT(Names(folder.path()), ElementsAre("step-0000000001", "step-0000000002", "step-0000000003"));
}

TEST(CheckpointSaver, KeepsTheNewest) {
  data::TemporaryFolder folder;
  EXPECT_THAT(SaveAll(folder.path(), 2, {5, 10, 15, 20}), IsEmpty());
  EXPECT_THAT(Names(folder.path()), ElementsAre("step-0000000015", "step-0000000020"));
}

TEST(CheckpointSaver, SavesThePointAndTheStateOfThatStep) {
  data::TemporaryFolder folder;
  SaveAll(folder.path(), 0, {4, 9});
  for (const int step : {4, 9}) {
    auto checkpoint = checkpoint::OpenCheckpoint(folder / ("step-000000000" + std::to_string(step)));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    EXPECT_EQ(checkpoint->point.step, static_cast<uint64_t>(step));
    EXPECT_EQ(checkpoint->point.seed, 3u);
    EXPECT_EQ(checkpoint->point.feed, "rows 10");
    EXPECT_EQ(checkpoint->point.carry, "c");
    EXPECT_THAT(data::Values<int32_t>(checkpoint->state.Bytes(*checkpoint->state.Find("count"))), ElementsAre(step));
  }
}

TEST(CheckpointSaver, FailsWhereItCannotWrite) {
  data::TemporaryFolder folder;
  data::WriteText(folder / "file", "no folder");
  comm::RunMeetingRanks(1, [&](comm::Control& control) {
    CheckpointSaver saver(
        {.directory = folder / "file", .keep = {.last = 1}, .deadline = absl::Seconds(10), .point = {}},
        [] { return std::vector<checkpoint::LocalTensor>{}; }, control, nullptr);
    EXPECT_FALSE(saver.Save(1).ok());
    return absl::OkStatus();
  });
  EXPECT_EQ(data::ReadText(folder / "file"), "no folder");
}

TEST(CheckpointSaver, SetsAsideWhatIsInDoubt) {
  data::TemporaryFolder folder;
  SaveAll(folder.path(), 0, {4, 9});
  comm::RunMeetingRanks(1, [&](comm::Control& control) {
    CheckpointSaver saver(
        {.directory = folder.path(), .keep = {}, .deadline = absl::Seconds(10), .point = {}},
        [] { return std::vector<checkpoint::LocalTensor>{}; }, control, nullptr);
    EXPECT_EQ(saver.Doubt(5), "");
    EXPECT_THAT(saver.Doubt(9), testing::HasSubstr("step-0000000009.doubtful"));
    return absl::OkStatus();
  });
  EXPECT_EQ(checkpoint::NewestStep(folder.path()), 4u);
}

TEST(BackgroundSaver, FailsInTheEndThoughTheFailureHasBeenNoted) {
  data::TemporaryFolder folder;
  data::WriteText(folder / "file", "no folder");
  comm::RunMeetingRanks(1, [&](comm::Control& control) {
    const auto copy = checkpoint::SharedSnapshot::Create(std::vector<data::TensorSpec>(), 1);
    EXPECT_TRUE(copy.ok()) << copy.status();
    NoteTaker notes;
    const auto saver = BackgroundSaver::Create(
        {.directory = folder / "file", .keep = {}, .deadline = absl::Seconds(10), .point = {}}, **copy,
        [] { return std::vector<checkpoint::LocalTensor>{}; }, control, &notes);
    EXPECT_TRUE(saver.ok()) << saver.status();
    EXPECT_EQ((*saver)->Save(1), absl::OkStatus());
    while (notes.notes.empty()) (*saver)->TellEnded();
    EXPECT_FALSE((*saver)->Finish().ok());
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace sgd::train
