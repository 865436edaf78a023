// Whole runs on ranks that are threads, of an artifact that can be followed with a pencil (tests/tools/toy_artifact.h):
// with all of x equal to 1 a step adds 4 to each of w's four elements, so that the loss after k steps from w = 1 is 4 +
// 16 k.
#include "runtime/train/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/save.h"
#include "runtime/launch/interruption.h"
#include "runtime/train/claimed_outputs.h"
#include "runtime/train/job_outputs.h"
#include "runtime/train/run_modes.h"
#include "runtime/train/step_timing.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/comm/rank_threads.h"
#include "tests/runtime/data/tensor_files.h"
#include "tests/tools/toy_artifact.h"

namespace sgd::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Recorder : public TrainObserver {
 public:
  absl::Status StepEnded(const trace::StepRecord& step, const EvalMeans* eval) override {
    steps.push_back(step.step);
    losses.push_back(step.loss->number);
    if (eval != nullptr) sums.push_back(eval->at(0).second);
    if (on_step) on_step(step.step);
    return absl::OkStatus();
  }
  void Stopped(const StopRecord& stop) override { stops.push_back(stop); }
  void Note(const std::string& text) override { notes.emplace_back(text); }

  std::function<void(uint64_t)> on_step;
  std::vector<uint64_t> steps;
  std::vector<double> losses, sums;
  std::vector<StopRecord> stops;
  std::vector<std::string> notes;
};

launch::RankContext RankOf(comm::SharedMemoryCommunicator& communicator) {
  launch::RankContext rank;
  rank.rank = rank.local_rank = communicator.control().rank();
  rank.size = rank.local_size = communicator.control().size();
  rank.control = &communicator.control();
  rank.communicator = &communicator;
  return rank;
}

SessionHooks Hooks() {
  return {.open_cpu = [](const launch::RankContext&) { return cpu::CpuDevice::Create({1}); },
          .note = [](const std::string&) {}};
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.artifact = folder_ / "toy.sgda";
    options_.mode = Mode::kTrain;
    options_.deadline = absl::Seconds(30);
    options_.data = {folder_ / "data.safetensors"};
  }

  void WriteToy(const ToyOptions& toy) {
    ranks_ = toy.ranks;
    WriteToyArtifact(options_.artifact, toy);
  }

  // Row r of x holds values[r].
  void WriteRows(const std::string& name, const std::vector<float>& values) {
    std::vector<float> all;
    for (const float value : values) all.insert(all.end(), 4, value);
    auto writer = data::TensorFileWriter::Create(folder_ / name, {{"x", data::ElementType::F32, {values.size(), 4}}});
    ASSERT_TRUE(writer.ok()) << writer.status();
    data::WriteTensor(*writer, 0, all.data());
    ASSERT_TRUE(writer->Commit().ok());
  }

  absl::StatusOr<Job> Prepare() const {
    absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> file =
        artifact::ArtifactFile::Open(options_.artifact, plan_);
    if (!file.ok()) return file.status();
    absl::StatusOr<Job> job = PrepareJob(options_, *std::move(file));
    if (!job.ok()) return job;
    const absl::Status status = CheckOutputs(*job);
    if (!status.ok()) return status;
    return job;
  }

  // Every rank prepares and does `body`; the outcomes by rank.
  std::vector<absl::Status> RunRanks(const std::function<absl::Status(Session&)>& body) {
    const absl::StatusOr<Job> job = Prepare();
    EXPECT_TRUE(job.ok()) << job.status();
    std::vector<absl::Status> outcomes(ranks_);
    if (!job.ok()) return outcomes;
    comm::RunAsThreads(ranks_, HostWindowBytes(*job->file), [&](comm::SharedMemoryCommunicator& communicator) {
      const launch::RankContext rank = RankOf(communicator);
      trace::StartTimes start(trace::MonotonicNanoseconds());
      outcomes[rank.rank] = WithSession(*job, rank, Hooks(), start, body);
    });
    return outcomes;
  }

  // Trains on all ranks; rank 0 tells `recorder`.
  absl::Status RunTraining(Recorder& recorder) {
    const std::vector<absl::Status> outcomes =
        RunRanks([&](Session& session) { return Train(session, session.is_first_rank() ? &recorder : nullptr); });
    for (const absl::Status& outcome : outcomes) EXPECT_EQ(outcome, outcomes[0]);
    return outcomes[0];
  }

  data::TemporaryFolder folder_;
  RunOptions options_;
  artifact::PlanChoice plan_;
  uint32_t ranks_ = 1;
};

class Ranks : public SessionTest, public ::testing::WithParamInterface<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(OneAndTwo, Ranks, ::testing::Values(1u, 2u));

TEST_P(Ranks, TrainFromInit) {
  WriteToy({.ranks = GetParam(), .has_init = true});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 3;
  Recorder recorder;
  EXPECT_EQ(RunTraining(recorder), absl::OkStatus());
  EXPECT_THAT(recorder.steps, ElementsAre(0, 1, 2));
  EXPECT_THAT(recorder.losses, ElementsAre(20, 36, 52));
}

// Sees the run as a program does that shows it.
class Viewer : public Recorder {
 public:
  absl::Status Begun(const watch::JobFacts& facts, const watch::StepWatch& watch) override {
    this->facts = facts;
    watch_ = &watch;
    return begins ? absl::OkStatus() : absl::UnavailableError("cannot show it");
  }
  void Ended() override {
    ++ended;
    for (uint32_t rank = 0; rank < watch_->places().size(); ++rank) states.push_back(watch_->StateOf(rank).has_value());
  }

  bool begins = true;
  int ended = 0;
  watch::JobFacts facts;
  std::vector<bool> states;

 private:
  const watch::StepWatch* watch_ = nullptr;
};

TEST_P(Ranks, ShowTheRunWhileItLasts) {
  WriteToy({.ranks = GetParam(), .has_init = true});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 3;
  options_.past_restarts = 2;
  Viewer viewer;
  EXPECT_EQ(RunTraining(viewer), absl::OkStatus());
  EXPECT_EQ(viewer.facts.first_step, 0);
  EXPECT_EQ(viewer.facts.steps, 3);
  EXPECT_EQ(viewer.facts.rows, 8);
  EXPECT_FALSE(viewer.facts.tokens.has_value());
  EXPECT_EQ(viewer.facts.restarts, 2);
  EXPECT_EQ(viewer.ended, 1);
  EXPECT_EQ(viewer.states, std::vector<bool>(GetParam(), true));
}

TEST_P(Ranks, ARunThatCannotBeShownDoesNotBegin) {
  WriteToy({.ranks = 1, .has_init = true});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 3;
  Viewer viewer;
  viewer.begins = false;
  EXPECT_EQ(RunTraining(viewer), absl::UnavailableError("cannot show it"));
  EXPECT_THAT(viewer.steps, ElementsAre());
  EXPECT_EQ(viewer.ended, 0);
}

// Eval's mean over its batches of the sum of w must be that of the state after the step: the loss.
TEST_P(Ranks, EvaluateTheStateAfterTheStepWhereverEvalKeepsIt) {
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  WriteRows("heldout.safetensors", std::vector<float>(16, 7));
  options_.steps = 4, options_.eval_every = 2, options_.eval_data = {folder_ / "heldout.safetensors"};
  for (const bool overwrites : {false, true}) {
    for (const bool shards : {false, true}) {
      WriteToy({.ranks = GetParam(),
                .has_init = true,
                .has_eval = true,
                .eval_overwrites_state = overwrites,
                .others_shard_state = shards});
      for (const uint64_t guard : {0, 1, 2}) {
        options_.guard.every = guard;
        Recorder recorder;
        EXPECT_EQ(RunTraining(recorder), absl::OkStatus());
        EXPECT_THAT(recorder.losses, ElementsAre(20, 36, 52, 68)) << overwrites << shards;
        EXPECT_THAT(recorder.sums, ElementsAre(36, 68)) << overwrites << shards;
      }
    }
  }
}

// Every step sees rows of its own, so that a run that began again with the first ones would differ.
TEST_P(Ranks, ResumeWhereTheDataWasLeft) {
  WriteToy({.ranks = GetParam(), .has_init = true});
  std::vector<float> rows(40);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i);
  WriteRows("data.safetensors", rows);
  options_.seed = 11;
  options_.steps = 7;
  Recorder whole;
  EXPECT_EQ(RunTraining(whole), absl::OkStatus());

  options_.steps = 3, options_.save = folder_ / "saved";
  Recorder first;
  EXPECT_EQ(RunTraining(first), absl::OkStatus());
  options_.steps = 4, options_.resume = options_.save, options_.seed.reset();
  Recorder second;
  EXPECT_EQ(RunTraining(second), absl::OkStatus());
  EXPECT_THAT(second.steps, ElementsAre(3, 4, 5, 6));
  std::vector<double> both = first.losses;
  both.insert(both.end(), second.losses.begin(), second.losses.end());
  EXPECT_EQ(both, whole.losses);
}

TEST_F(SessionTest, ResumeOnAnotherNumberOfRanks) {
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  WriteToy({.ranks = 2, .has_init = true});
  options_.steps = 2, options_.save = folder_ / "saved";
  Recorder first;
  EXPECT_EQ(RunTraining(first), absl::OkStatus());
  WriteToy({.ranks = 1});
  options_.resume = options_.save;
  Recorder second;
  EXPECT_EQ(RunTraining(second), absl::OkStatus());
  EXPECT_THAT(second.steps, ElementsAre(2, 3));
  EXPECT_THAT(second.losses, ElementsAre(52, 68));
}

TEST_F(SessionTest, ResumeRefusesAnotherSeed) {
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  WriteToy({.ranks = 1, .has_init = true});
  options_.steps = 1, options_.save = folder_ / "saved", options_.seed = 5;
  Recorder recorder;
  EXPECT_EQ(RunTraining(recorder), absl::OkStatus());
  options_.resume = options_.save, options_.seed = 6;
  EXPECT_THAT(Prepare().status().message(), HasSubstr("was trained with --seed 5, not 6; leave --seed out"));
}

// The rank that is asked to stop need not be the one that tells.
TEST_P(Ranks, StopAfterTheSameStepAndGoOn) {
  WriteToy({.ranks = GetParam(), .has_init = true});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 1'000'000, options_.save = folder_ / "saved";
  Recorder recorder;
  const std::vector<absl::Status> outcomes = RunRanks([&](Session& session) {
    if (session.is_first_rank()) {
      recorder.on_step = [&session](uint64_t step) {
        if (step == 4) session.control().RequestStop(2);
      };
    }
    return Train(session, session.is_first_rank() ? &recorder : nullptr);
  });
  for (const absl::Status& outcome : outcomes) EXPECT_TRUE(launch::IsInterrupted(outcome)) << outcome;
  ASSERT_EQ(recorder.stops.size(), 1u);
  EXPECT_EQ(recorder.stops[0].signal, 2);
  EXPECT_TRUE(recorder.stops[0].is_saved);
  const uint64_t done = recorder.stops[0].steps_done;
  EXPECT_EQ(recorder.steps.size(), done);

  options_.resume = options_.save, options_.steps = 2;
  Recorder second;
  EXPECT_EQ(RunTraining(second), absl::OkStatus());
  EXPECT_THAT(second.steps, ElementsAre(done, done + 1));
  EXPECT_EQ(second.losses[0], recorder.losses.back() + 16);
}

TEST_P(Ranks, RunOnceWritesOutputs) {
  WriteToy({.ranks = GetParam()});
  options_.mode = Mode::kOnce, options_.data.clear();
  options_.inputs = folder_ / "in.safetensors", options_.outputs = folder_ / "out.safetensors";
  std::vector<float> w(4, 2), x(32, 0.5);
  auto writer = data::TensorFileWriter::Create(
      options_.inputs, {{"arg0", data::ElementType::F32, {1, 4}}, {"x", data::ElementType::F32, {8, 4}}});
  ASSERT_TRUE(writer.ok()) << writer.status();
  data::WriteTensor(*writer, 0, w.data());
  data::WriteTensor(*writer, 1, x.data());
  ASSERT_TRUE(writer->Commit().ok());
  for (const absl::Status& outcome : RunRanks([](Session& session) { return RunOnce(session); }))
    EXPECT_TRUE(outcome.ok()) << outcome;
  auto file = data::SafetensorsFile::Open(options_.outputs);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(data::Values<float>(file->Bytes(*file->Find("result1"))), ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(data::Values<float>(file->Bytes(*file->Find("result0"))), ElementsAre(16));
}

TEST_P(Ranks, BenchCountsWhatIsSent) {
  WriteToy({.ranks = GetParam()});
  options_.mode = Mode::kBench, options_.data.clear(), options_.bench_steps = 6;
  std::mutex mutex;
  int first_steps = 0;
  const std::vector<absl::Status> outcomes = RunRanks([&](Session& session) {
    absl::StatusOr<BenchResult> result = Bench(session, 6, [&] {
      const std::lock_guard lock(mutex);
      ++first_steps;
    });
    if (!result.ok()) return result.status();
    EXPECT_EQ(result->times.step_ms.size(), 6u);
    EXPECT_EQ(result->sent_bytes, ranks_ == 1 ? 0u : 16u);
    EXPECT_GT(result->times.steps_per_second(), 0);
    return absl::OkStatus();
  });
  for (const absl::Status& outcome : outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
  EXPECT_EQ(first_steps, static_cast<int>(ranks_));
}

// A thread of each rank saves what it was while the steps go on; restored, they go the same way again.
TEST_P(Ranks, ASnapshotIsSavedBesideTheStepsAndRestored) {
  WriteToy({.ranks = GetParam(), .has_init = true});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 6;
  const auto steps = [](Session& session, uint64_t begin, std::vector<double>& losses) {
    for (uint64_t step = begin; step < begin + 3; ++step) {
      absl::Status status = session.FillInputs(step);
      if (status.ok()) status = session.Begin(step, /*carries=*/false);
      if (status.ok()) status = session.End();
      if (!status.ok()) return status;
      losses.push_back(session.ReadScalars().loss->number);
      if (status = session.CarryOutputs(); !status.ok()) return status;
    }
    return absl::OkStatus();
  };
  const std::vector<absl::Status> outcomes = RunRanks([&](Session& session) {
    std::vector<double> first, second, again;
    StateSnapshot snapshot;
    absl::Status status = steps(session, 0, first);
    if (status.ok()) status = session.state().Snapshot(snapshot);
    if (!status.ok()) return status;
    absl::Status saved = absl::UnknownError("");
    std::thread beside([&] {
      checkpoint::TrainingPoint point;
      point.step = 3;
      saved =
          checkpoint::Save(folder_.path(), point, snapshot.Tensors(), session.control().beside(), absl::Seconds(30));
    });
    status = steps(session, 3, second);
    beside.join();
    if (status.ok()) status = saved;
    if (status.ok()) status = session.state().Restore(snapshot);
    if (status.ok()) status = steps(session, 3, again);
    EXPECT_EQ(first, (std::vector<double>{20, 36, 52}));
    EXPECT_EQ(second, (std::vector<double>{68, 84, 100}));
    EXPECT_EQ(again, second);
    // Taken again, it is another one.
    if (status.ok()) status = session.state().Snapshot(snapshot);
    EXPECT_EQ(data::Values<float>(snapshot.Tensors()[0].bytes)[0], 25);
    return status;
  });
  for (const absl::Status& outcome : outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
  auto checkpoint = checkpoint::OpenCheckpoint(folder_.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  const data::TensorEntry* w = checkpoint->state.Find("params['w']");
  ASSERT_NE(w, nullptr);
  EXPECT_THAT(data::Values<float>(checkpoint->state.Bytes(*w)), ElementsAre(13, 13, 13, 13));
}

TEST_P(Ranks, ASnapshotOfAnotherProgramIsNotRestored) {
  WriteToy({.ranks = GetParam(), .has_init = true});
  options_.mode = Mode::kBench;
  options_.data.clear();
  options_.program = "init";
  std::vector<StateSnapshot> snapshots(GetParam());
  const auto take = [&](Session& session) { return session.state().Snapshot(snapshots[session.context().rank()]); };
  for (const absl::Status& outcome : RunRanks(take)) EXPECT_TRUE(outcome.ok()) << outcome;
  options_.program = "train";
  const auto restore = [&](Session& session) { return session.state().Restore(snapshots[session.context().rank()]); };
  for (const absl::Status& outcome : RunRanks(restore)) {
    EXPECT_EQ(outcome.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(outcome.message()), HasSubstr("expected a snapshot of the same program and rank"));
  }
}

TEST_F(SessionTest, RanksMustRunTheSameThing) {
  WriteToy({.ranks = 2, .has_init = true});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 2;
  const absl::StatusOr<Job> first = Prepare();
  options_.steps = 3;
  const absl::StatusOr<Job> second = Prepare();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(AgreementText(*first) == AgreementText(*second), false);
  comm::RunAsThreads(2, HostWindowBytes(*first->file), [&](comm::SharedMemoryCommunicator& communicator) {
    const launch::RankContext rank = RankOf(communicator);
    trace::StartTimes start(trace::MonotonicNanoseconds());
    const auto session = Session::Create(rank.rank == 0 ? *first : *second, rank, Hooks(), start);
    EXPECT_EQ(session.status().message(),
              "ranks must run the same thing, but rank 0 and rank 1 differ: 'steps: 2' against 'steps: 3'");
  });
}

TEST_F(SessionTest, RanksMustRunTheSamePlan) {
  WriteToyPlans(options_.artifact, {{"a", {.ranks = 2, .has_init = true}}, {"b", {.ranks = 2, .has_init = true}}});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 2;
  plan_.name = "a";
  const absl::StatusOr<Job> first = Prepare();
  plan_.name = "b";
  const absl::StatusOr<Job> second = Prepare();
  ASSERT_TRUE(first.ok() && second.ok());
  comm::RunAsThreads(2, HostWindowBytes(*first->file), [&](comm::SharedMemoryCommunicator& communicator) {
    const launch::RankContext rank = RankOf(communicator);
    trace::StartTimes start(trace::MonotonicNanoseconds());
    const auto session = Session::Create(rank.rank == 0 ? *first : *second, rank, Hooks(), start);
    EXPECT_EQ(session.status().message(),
              "ranks must run the same thing, but rank 0 and rank 1 differ: 'plan: a' against 'plan: b'");
  });
}

// Two ranks train and save, and one goes on, by the plan for it.
TEST_F(SessionTest, PlansOfAFileShareCheckpoints) {
  WriteToyPlans(options_.artifact, {{"two", {.ranks = 2, .has_init = true}}, {"one", {.ranks = 1, .has_init = true}}});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 2;
  options_.save = folder_ / "saved";
  plan_.ranks = ranks_ = 2;
  Recorder first;
  ASSERT_TRUE(RunTraining(first).ok());
  options_.resume = options_.save;
  plan_.ranks = ranks_ = 1;
  Recorder second;
  ASSERT_TRUE(RunTraining(second).ok());
  EXPECT_EQ(Prepare()->file->plan(), "one");
  EXPECT_THAT(first.losses, ElementsAre(20, 36));
  EXPECT_THAT(second.losses, ElementsAre(52, 68));
}

TEST_F(SessionTest, EveryInputNeedsASource) {
  WriteToy({.ranks = 1});
  WriteRows("data.safetensors", std::vector<float>(8, 1));
  options_.steps = 1;
  EXPECT_EQ(Prepare().status(),
            absl::InvalidArgumentError("input arg0 'params['w']' (f32[1,4]) of program 'train' is in none of --init, "
                                       "--resume, --data and --batches, and there is no program 'init'"));
}

TEST_F(SessionTest, AFolderBelongsToOneRun) {
  options_.save = folder_ / "saved";
  auto first = ClaimedOutputs::Claim(options_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(first->notes(), IsEmpty());
  EXPECT_EQ(ClaimedOutputs::Claim(options_).status().code(), absl::StatusCode::kUnavailable);
  *first = ClaimedOutputs();
  EXPECT_TRUE(ClaimedOutputs::Claim(options_).ok());
}

}  // namespace
}  // namespace sgd::train
