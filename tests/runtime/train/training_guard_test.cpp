// Faults of memory, devices and data under a guard, on ranks that are threads, with the toy artifact
// (tests/tools/toy_artifact.h): with all of x equal to 1 the loss after k steps from w = 1 is 4 + 16 k.
#include "runtime/train/training_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/runtime/data/tensor_files.h"
#include "tests/runtime/train/flipped_training.h"
#include "tests/tools/toy_artifact.h"

namespace sgd::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Recorder : public TrainObserver {
 public:
  absl::Status StepEnded(const trace::StepRecord& step, const EvalMeans*) override {
    steps.push_back(step.step);
    losses.push_back(step.loss->number);
    return absl::OkStatus();
  }
  void Stopped(const StopRecord&) override {}
  void Note(const std::string& text) override { notes.push_back(text); }
  absl::Status Event(const std::string& json) override {
    events.push_back(json);
    return absl::OkStatus();
  }

  std::vector<uint64_t> steps;
  std::vector<double> losses;
  std::vector<std::string> notes, events;
};

class TrainingGuardTest : public ::testing::Test {
 protected:
  TrainingGuardTest() {
    options_.artifact = folder_ / "toy.sgda";
    options_.batches = folder_ / "batches.safetensors";
    options_.mode = Mode::kTrain;
    options_.steps = 6;
    options_.deadline = absl::Seconds(30);
    options_.guard.every = 1;
  }

  // Batches of ones; row 5 of some steps' x holds what `rows` says.
  void WriteBatches(const std::map<uint64_t, float>& rows = {}) {
    std::vector<data::TensorSpec> declared;
    for (uint64_t step = 0; step < options_.steps; ++step)
      declared.push_back({absl::StrCat("step", step, ".x"), data::ElementType::F32, {8, 4}});
    auto writer = data::TensorFileWriter::Create(options_.batches, declared);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (uint64_t step = 0; step < options_.steps; ++step) {
      std::vector<float> values(32, 1);
      if (rows.contains(step)) std::fill_n(values.begin() + 20, 4, rows.at(step));
      data::WriteTensor(*writer, step, values.data());
    }
    ASSERT_TRUE(writer->Commit().ok());
  }

  absl::StatusOr<Job> Prepare(uint32_t ranks) {
    WriteToyArtifact(options_.artifact, {.ranks = ranks, .has_init = true});
    auto file = artifact::ArtifactFile::Open(options_.artifact);
    if (!file.ok()) return file.status();
    return PrepareJob(options_, *std::move(file));
  }

  // The outcome of the rank at fault, whose cause the others have.
  absl::Status Train(uint32_t ranks, const std::optional<Flip>& flip = std::nullopt) {
    recorder_ = {};
    const absl::StatusOr<Job> job = Prepare(ranks);
    if (!job.ok()) return job.status();
    const std::vector<absl::Status> outcomes = TrainWithFlip(*job, flip, recorder_);
    const auto own = std::ranges::find_if(
        outcomes, [](const absl::Status& outcome) { return outcome.code() != absl::StatusCode::kAborted; });
    EXPECT_NE(own, outcomes.end());
    at_fault_ = static_cast<uint32_t>(own - outcomes.begin());
    for (const absl::Status& outcome : outcomes)
      EXPECT_THAT(std::string(outcome.message()), HasSubstr(std::string(own->message())));
    return *own;
  }

  data::TemporaryFolder folder_;
  RunOptions options_;
  Recorder recorder_;
  uint32_t at_fault_ = 0;
};

TEST_F(TrainingGuardTest, ChangesNothing) {
  WriteBatches();
  for (const uint32_t ranks : {1, 2, 4}) {
    for (const uint64_t every : {1, 2, 4, 100}) {
      options_.guard.every = every;
      EXPECT_EQ(Train(ranks), absl::OkStatus());
      EXPECT_THAT(recorder_.losses, ElementsAre(20, 36, 52, 68, 84, 100));
      EXPECT_THAT(recorder_.events, IsEmpty());
    }
  }
}

TEST_F(TrainingGuardTest, NamesTheMemoryThatChangesBetweenSteps) {
  WriteBatches();
  for (const uint32_t ranks : {1, 2, 4}) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const Flip flip{.rank = rank, .input = 0, .bit = 7 + 20 * rank, .step = 3};
      const absl::Status status = Train(ranks, flip);
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("guard: its bytes of params/w have changed after step 2, before a step wrote them"));
      EXPECT_EQ(at_fault_, rank);
      ASSERT_EQ(recorder_.events.size(), 1u);
      EXPECT_THAT(recorder_.events[0],
                  StartsWith(absl::StrCat("{\"event\": \"guard\", \"rank\": ", rank,
                                          ", \"tensor\": \"params/w\", \"step\": 2, \"cause\": \"memory\"")));
    }
  }
}

// State that is flipped as a step begins is compared before the step writes it.
TEST_F(TrainingGuardTest, ComparesUntilAStepWrites) {
  WriteBatches();
  const absl::Status status = Train(4, Flip{.rank = 2, .input = 0, .bit = 22, .step = 4, .is_within = true});
  EXPECT_THAT(std::string(status.message()), HasSubstr("its bytes of params/w have changed after step 3"));
  EXPECT_EQ(at_fault_, 2u);
}

// Behind a step that no check precedes, only replicas show it.
TEST_F(TrainingGuardTest, NamesTheReplicaThatDiffers) {
  WriteBatches();
  options_.guard.every = 2;
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const absl::Status status = Train(4, Flip{.rank = rank, .input = 0, .bit = 22, .step = 3, .is_within = true});
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    const std::string others = std::vector<std::string>{"1, 2 and 3", "0, 2 and 3", "0, 1 and 3", "0, 1 and 2"}[rank];
    EXPECT_EQ(at_fault_, rank);
    EXPECT_EQ(std::string(status.message()),
              absl::StrCat("guard: holds other bytes of params/w than ranks ", others,
                           " after step 3; repeated, the steps give other bytes on rank ", rank,
                           ", whose device or memory is at fault"));
  }
}

TEST_F(TrainingGuardTest, ARepeatedStepTellsWhichOfTwoIsAtFault) {
  WriteBatches();
  options_.guard.every = 2;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const absl::Status status = Train(2, Flip{.rank = rank, .input = 0, .bit = 22, .step = 3, .is_within = true});
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(at_fault_, rank);
    EXPECT_EQ(std::string(status.message()),
              absl::StrCat("guard: holds other bytes of params/w than rank ", 1 - rank,
                           " after step 3; repeated, the steps give other bytes on rank ", rank,
                           ", whose device or memory is at fault"));
  }
}

// A replica keeps its fault, so that a check several steps later finds it too.
TEST_F(TrainingGuardTest, FindsAReplicaAtTheNextCheck) {
  WriteBatches();
  options_.guard.every = 3;
  const absl::Status status = Train(4, Flip{.rank = 2, .input = 0, .bit = 40, .step = 1, .is_within = true});
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("guard: holds other bytes of params/w than ranks 0, 1 and 3 after step 2"));
  EXPECT_EQ(at_fault_, 2u);
}

TEST_F(TrainingGuardTest, NamesTheDataThatIsNotANumber) {
  WriteBatches({{4, std::nanf("")}});
  for (const uint32_t ranks : {1, 2, 4}) {
    for (const uint64_t every : {1, 4, 100}) {
      options_.guard.every = every;
      const absl::Status status = Train(ranks);
      EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("guard: the loss of step 4 is nan: input 'x' holds nan at [5, 0]; repeated, the step gives "
                            "the same bytes, so no device is at fault"));
      EXPECT_EQ(at_fault_, ranks / 2);
      // Where all ranks see it at once, no further step runs.
      EXPECT_EQ(recorder_.steps.size(), 5u);
    }
  }
}

// The sum of w is beyond f32, its elements are not.
TEST_F(TrainingGuardTest, NamesTheInstructionThatOverflows) {
  WriteBatches({{4, 3.4e38f}});
  for (const uint32_t ranks : {1, 2}) {
    EXPECT_THAT(std::string(Train(ranks).message()),
                HasSubstr(absl::StrCat("guard: the loss of step 4 is inf: instruction ", ranks == 1 ? 2 : 3,
                                       " (matmul) at  makes infinity from finite values")));
  }
}

TEST_F(TrainingGuardTest, LeavesOutStepsWithBadData) {
  for (const uint32_t ranks : {1, 2}) {
    for (const uint64_t every : {1, 2, 3, 100}) {
      WriteBatches({{1, std::nanf("")}, {4, std::nanf("")}});
      options_.guard.every = every, options_.guard.skips_steps = true;
      EXPECT_EQ(Train(ranks), absl::OkStatus());
      // Four of six steps count; the others may have run before they were left out.
      EXPECT_EQ(recorder_.losses.back(), 68) << every;
      EXPECT_EQ(recorder_.steps.back(), 5u);
      ASSERT_EQ(recorder_.events.size(), 2u) << every;
      EXPECT_THAT(recorder_.events[0], HasSubstr("\"step\": 1, \"cause\": \"loss\", \"action\": \"skip\""));
      EXPECT_THAT(recorder_.events[1], HasSubstr("\"step\": 4, \"cause\": \"loss\", \"action\": \"skip\""));
    }
  }
}

TEST_F(TrainingGuardTest, GivesUpWhenEveryStepIsAtFault) {
  options_.steps = 20;
  std::map<uint64_t, float> rows;
  for (uint64_t step = 2; step < 20; ++step) rows[step] = std::nanf("");
  WriteBatches(rows);
  options_.guard.skips_steps = true;
  EXPECT_THAT(std::string(Train(2).message()), HasSubstr("10 steps have been left out in turn"));
}

// Losses grow by 16 a step; 1000 more in one step are above twice the median.
TEST_F(TrainingGuardTest, LimitsTheLoss) {
  options_.steps = 20;
  WriteBatches({{18, 1e6}});
  options_.guard.loss_factor = 3, options_.guard.every = 4;
  const absl::Status status = Train(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("guard: the loss of step 18 is 2.00031e+06, above the limit 492"));
  options_.guard.skips_steps = true;
  EXPECT_EQ(Train(2), absl::OkStatus());
  EXPECT_EQ(recorder_.losses.back(), 4 + 16 * 19);
}

// What is not a number comes from a bit that flips, and does not come again.
TEST_F(TrainingGuardTest, ADeviceThatRepeatsNothingIsAtFault) {
  WriteBatches();
  options_.guard.every = 2;
  // w is 5 then: with all bits of its exponent it is not a number.
  for (const uint32_t ranks : {1, 2}) {
    const absl::Status status =
        Train(ranks, Flip{.rank = 0, .input = 0, .bit = 24, .bits = 6, .step = 1, .is_within = true});
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("repeated, the steps give other bytes on rank 0"));
  }
}

TEST_F(TrainingGuardTest, RefusesLimitsOfResultsThatAreNotThere) {
  WriteBatches();
  options_.guard.gradient_norm = 1;
  EXPECT_THAT(std::string(Train(1).message()),
              HasSubstr("toy.sgda: program 'train' has no floating-point scalar output grad_norm"));
}

}  // namespace
}  // namespace sgd::train
