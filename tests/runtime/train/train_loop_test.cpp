// The order in which the loop calls its parts, with parts that only write down that they were called.
#include "runtime/train/train_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/launch/interruption.h"
#include "runtime/watch/flight_ring.h"
#include "tests/runtime/comm/meeting_threads.h"

namespace sgd::train {
namespace {

using ::testing::ElementsAre;
using Calls = std::vector<std::string>;

constexpr int kSignal = 15;

class FakeRunner : public StepRunner {
 public:
  FakeRunner(Calls& calls, bool runs_ahead) : calls_(calls), runs_ahead_(runs_ahead) {}

  absl::Status FillInputs(uint64_t step) override {
    calls_.push_back(absl::StrCat("fill ", step));
    return step == unreadable_step ? absl::DataLossError("the file has become shorter") : absl::OkStatus();
  }
  absl::Status Begin(uint64_t step, bool carries) override {
    calls_.push_back(absl::StrCat("begin ", step, carries ? "" : " without carry"));
    begun_.push_back(step);
    return step == failing_step ? absl::InternalError("the device failed") : absl::OkStatus();
  }
  absl::Status End() override {
    calls_.push_back(absl::StrCat("end ", begun_.at(ended_)));
    ++ended_;
    return absl::OkStatus();
  }
  bool runs_ahead() const override { return runs_ahead_; }
  StepScalars ReadScalars() const override {
    trace::Scalar loss{.element = artifact::ElementType::F32, .number = static_cast<double>(begun_.at(ended_ - 1))};
    return {.loss = loss, .outputs = {{"result0", loss}}};
  }
  const exec::StepTiming& timing() const override { return timing_; }
  absl::Status WriteOutputs() override {
    calls_.push_back("write");
    return absl::OkStatus();
  }
  absl::Status CarryOutputs() override {
    calls_.push_back("carry");
    return absl::OkStatus();
  }

  uint64_t failing_step = ~uint64_t{0};
  uint64_t unreadable_step = ~uint64_t{0};

 private:
  Calls& calls_;
  const bool runs_ahead_;
  std::vector<uint64_t> begun_;
  size_t ended_ = 0;
  exec::StepTiming timing_;
};

// A rank that is asked to stop before a step.
class StoppedRank : public comm::MeetingControl {
 public:
  StoppedRank(comm::MeetingPlace& place, uint64_t stop_before, int signal)
      : MeetingControl(0, 1, place, /*spans_hosts=*/false), stop_before_(stop_before), signal_(signal) {}
  absl::StatusOr<bool> BeginStep(uint64_t step, absl::Duration) override { return step < stop_before_; }
  int stop_signal() override { return signal_; }
  void MarkStateKept() override { is_state_kept = true; }

  bool is_state_kept = false;

 private:
  const uint64_t stop_before_;
  const int signal_;
};

class FakeEvaluator : public StateEvaluator {
 public:
  explicit FakeEvaluator(Calls& calls) : calls_(calls) {}
  absl::StatusOr<EvalMeans> Evaluate() override {
    calls_.push_back("evaluate");
    return EvalMeans{{"accuracy", 0.5}};
  }

 private:
  Calls& calls_;
};

class FakeSaver : public StateSaver {
 public:
  FakeSaver(Calls& calls, std::string action) : calls_(calls), action_(std::move(action)) {}
  absl::Status Save(uint64_t steps_done) override {
    calls_.push_back(absl::StrCat(action_, " ", steps_done));
    return steps_done == failing_save ? absl::ResourceExhaustedError("no space") : absl::OkStatus();
  }
  absl::Status Finish() override { return finish; }
  uint64_t failing_save = ~uint64_t{0};
  absl::Status finish;

 private:
  Calls& calls_;
  const std::string action_;
};

class FakeGuard : public StepGuard {
 public:
  explicit FakeGuard(Calls& calls) : calls_(calls) {}
  absl::Status BeforeStep(uint64_t step) override {
    calls_.push_back(absl::StrCat("guard before ", step));
    return absl::OkStatus();
  }
  void StepEnded(const trace::StepRecord& step) override { calls_.push_back(absl::StrCat("guard ended ", step.step)); }
  bool IsDueAfter(uint64_t step) const override { return (step + 1) % every == 0; }
  absl::StatusOr<uint64_t> Check(uint64_t steps_done) override {
    calls_.push_back(absl::StrCat("check ", steps_done));
    if (steps_done == failing_check) return absl::DataLossError("a bit flipped");
    if (steps_done != skipping_check || !skipped_.empty()) return steps_done;
    skipped_.push_back(skipped_step);
    return steps_done - every;
  }
  bool IsSkipped(uint64_t step) const override { return std::ranges::find(skipped_, step) != skipped_.end(); }

  uint64_t every = 2;
  uint64_t failing_check = ~uint64_t{0}, skipping_check = ~uint64_t{0}, skipped_step = 0;

 private:
  Calls& calls_;
  std::vector<uint64_t> skipped_;
};

class FakeObserver : public TrainObserver {
 public:
  explicit FakeObserver(Calls& calls) : calls_(calls) {}
  absl::Status StepEnded(const trace::StepRecord& step, const EvalMeans* eval) override {
    calls_.push_back(
        absl::StrCat("told ", step.step, " loss ", step.loss->number,
                     eval == nullptr ? "" : absl::StrCat(" ", eval->at(0).first, " ", eval->at(0).second)));
    return absl::OkStatus();
  }
  void Stopped(const StopRecord& stop) override {
    calls_.push_back(absl::StrCat("stopped by ", stop.signal, " after ", stop.steps_done,
                                  stop.has_run ? "" : " of earlier runs", stop.is_saved ? ", saved" : ""));
  }
  void Note(const std::string& text) override { calls_.push_back(absl::StrCat("note ", text)); }

 private:
  Calls& calls_;
};

struct LoopSetup {
  TrainLoopOptions options;
  bool runs_ahead = false;
  bool evaluates = false;
  bool saves = false;
  bool copies = false;
  int signal = kSignal;
  absl::Status finish = {};
  uint64_t stop_before = ~uint64_t{0};
  uint64_t failing_step = ~uint64_t{0};
  uint64_t unreadable_step = ~uint64_t{0};
  uint64_t failing_save = ~uint64_t{0};
  uint64_t checks_every = 0;  // 0: no guard
  uint64_t failing_check = ~uint64_t{0}, skipping_check = ~uint64_t{0}, skipped_step = 0;
};

struct Outcome {
  absl::Status status;
  Calls calls;
  bool is_state_kept = false;
};

Outcome RunLoop(const LoopSetup& setup) {
  Outcome outcome;
  FakeRunner runner(outcome.calls, setup.runs_ahead);
  runner.failing_step = setup.failing_step;
  runner.unreadable_step = setup.unreadable_step;
  comm::MeetingPlace place(1);
  StoppedRank control(place, setup.stop_before, setup.signal);
  FakeEvaluator evaluator(outcome.calls);
  FakeSaver saver(outcome.calls, "save"), copies(outcome.calls, "copy");
  saver.failing_save = setup.failing_save;
  saver.finish = setup.finish;
  FakeObserver observer(outcome.calls);
  FakeGuard guard(outcome.calls);
  guard.every = setup.checks_every, guard.failing_check = setup.failing_check;
  guard.skipping_check = setup.skipping_check, guard.skipped_step = setup.skipped_step;
  outcome.status = TrainLoop({.runner = runner,
                              .control = control,
                              .evaluator = setup.evaluates ? &evaluator : nullptr,
                              .saver = setup.saves ? &saver : nullptr,
                              .snapshots = setup.copies ? &copies : nullptr,
                              .observer = &observer,
                              .guard = setup.checks_every > 0 ? &guard : nullptr},
                             setup.options)
                       .Run();
  outcome.is_state_kept = control.is_state_kept;
  return outcome;
}

Calls CallsNaming(const Calls& calls, std::string_view prefix) {
  Calls named;
  for (const std::string& call : calls) {
    if (call.starts_with(prefix)) named.push_back(call);
  }
  return named;
}

TEST(TrainLoop, TellsTheWatchOfStepsInputsAndCheckpoints) {
  Calls calls;
  FakeRunner runner(calls, /*runs_ahead=*/false);
  comm::MeetingPlace place(1);
  StoppedRank control(place, ~uint64_t{0}, kSignal);
  FakeSaver saver(calls, "save");
  auto board = watch::FlightBoard::Create(1);
  ASSERT_TRUE(board.ok()) << board.status();
  auto watch = watch::StepWatch::Create(
      control, {.place = {.host = "h", .cores = "core 0", .group = 0}, .flight = &(*board)->ring(0)});
  ASSERT_TRUE(watch.ok()) << watch.status();
  const absl::Status status = TrainLoop({.runner = runner, .control = control, .saver = &saver, .watch = watch->get()},
                                        {.first_step = 5, .steps = 4, .save_every = 2})
                                  .Run();
  EXPECT_TRUE(status.ok()) << status;
  const watch::RankState state = (*watch)->StateOf(0).value();
  EXPECT_EQ(state.steps, 4);
  EXPECT_EQ(state.Sample(0).step, 5);
  EXPECT_GT(state.Sample(0).input, 0);
  // The last step's checkpoint comes behind what it has published.
  EXPECT_EQ(state.checkpoints, 2);
  EXPECT_EQ(state.Sample(0).checkpoint, 0);
  EXPECT_GT(state.Sample(1).checkpoint, 0);
  EXPECT_EQ((*board)->ring(0).written, 7) << "four times inputs, three checkpoints";
}

TEST(TrainLoop, EndsAStepBeforeTheNextIsFilled) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 2}});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.calls, ElementsAre("fill 0", "begin 0", "end 0", "carry", "told 0 loss 0",  //
                                         "fill 1", "begin 1", "end 1", "carry", "told 1 loss 1"));
}

TEST(TrainLoop, GivesAStepToADeviceThatRunsAheadWhileTheOneBeforeRuns) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 3}, .runs_ahead = true});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.calls,
              ElementsAre("fill 0", "begin 0", "carry",                            //
                          "fill 1", "begin 1", "end 0", "told 0 loss 0", "carry",  //
                          "fill 2", "begin 2", "end 1", "told 1 loss 1", "end 2", "carry", "told 2 loss 2"));
}

TEST(TrainLoop, OutputsOfTheLastStepAreWrittenBeforeTheyAreCarried) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 2, .writes_outputs = true}});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.calls,
              ElementsAre("fill 0", "begin 0", "end 0", "carry", "told 0 loss 0",  //
                          "fill 1", "begin 1 without carry", "end 1", "write", "carry", "told 1 loss 1"));
}

TEST(TrainLoop, NothingRunsWhileStateIsEvaluatedOrSaved) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 4, .eval_every = 2, .save_every = 3},
                                   .runs_ahead = true,
                                   .evaluates = true,
                                   .saves = true});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.calls,
              ElementsAre("fill 0", "begin 0", "carry",                                                 //
                          "fill 1", "begin 1", "end 0", "told 0 loss 0", "end 1", "carry", "evaluate",  //
                          "told 1 loss 1 accuracy 0.5",                                                 //
                          "fill 2", "begin 2", "end 2", "carry", "told 2 loss 2", "save 3",             //
                          "fill 3", "begin 3", "end 3", "carry", "evaluate", "told 3 loss 3 accuracy 0.5", "save 4"));
}

TEST(TrainLoop, DueStepsCountFromTheFirstRun) {
  const Outcome outcome = RunLoop(
      {.options = {.first_step = 7, .steps = 4, .eval_every = 3, .save_every = 4}, .evaluates = true, .saves = true});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(CallsNaming(outcome.calls, "fill"), ElementsAre("fill 7", "fill 8", "fill 9", "fill 10"));
  EXPECT_THAT(CallsNaming(outcome.calls, "save"), ElementsAre("save 8", "save 11"));
  EXPECT_THAT(CallsNaming(outcome.calls, "told"),
              ElementsAre("told 7 loss 7", "told 8 loss 8 accuracy 0.5", "told 9 loss 9", "told 10 loss 10"));
}

TEST(TrainLoop, SavesAfterTheLastStepOnceAndOnlyThereWithoutSaveEvery) {
  EXPECT_THAT(CallsNaming(RunLoop({.options = {.first_step = 0, .steps = 5}, .saves = true}).calls, "save"),
              ElementsAre("save 5"));
  EXPECT_THAT(
      CallsNaming(RunLoop({.options = {.first_step = 0, .steps = 4, .save_every = 2}, .saves = true}).calls, "save"),
      ElementsAre("save 2", "save 4"));
}

TEST(TrainLoop, AStopSavesWhatIsNotSaved) {
  const Outcome outcome =
      RunLoop({.options = {.first_step = 0, .steps = 9, .save_every = 2}, .saves = true, .stop_before = 3});
  EXPECT_TRUE(launch::IsInterrupted(outcome.status)) << outcome.status;
  EXPECT_THAT(CallsNaming(outcome.calls, "s"), ElementsAre("save 2", "save 3", "stopped by 15 after 3, saved"));
  const Outcome again =
      RunLoop({.options = {.first_step = 0, .steps = 9, .save_every = 2}, .saves = true, .stop_before = 4});
  EXPECT_THAT(CallsNaming(again.calls, "s"), ElementsAre("save 2", "save 4", "stopped by 15 after 4, saved"));
}

TEST(TrainLoop, SignalsChangeNothingOnceTheStateIsKept) {
  const TrainLoopOptions options = {.first_step = 0, .steps = 3};
  EXPECT_TRUE(RunLoop({.options = options, .saves = true}).is_state_kept);
  EXPECT_TRUE(RunLoop({.options = options, .saves = true, .stop_before = 2}).is_state_kept);
  EXPECT_FALSE(RunLoop({.options = options, .saves = true, .stop_before = 2, .failing_save = 2}).is_state_kept);
  EXPECT_FALSE(RunLoop({.options = options, .saves = true, .failing_step = 1}).is_state_kept);
}

TEST(TrainLoop, AStopEndsAndTellsTheStepInFlight) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 9}, .runs_ahead = true, .stop_before = 2});
  EXPECT_TRUE(launch::IsInterrupted(outcome.status)) << outcome.status;
  EXPECT_THAT(outcome.calls, ElementsAre("fill 0", "begin 0", "carry",                            //
                                         "fill 1", "begin 1", "end 0", "told 0 loss 0", "carry",  //
                                         "end 1", "told 1 loss 1", "stopped by 15 after 2"));
}

TEST(TrainLoop, AStopBeforeTheFirstStepSavesNothing) {
  const Outcome outcome = RunLoop({.options = {.first_step = 6, .steps = 9}, .saves = true, .stop_before = 6});
  EXPECT_TRUE(launch::IsInterrupted(outcome.status)) << outcome.status;
  EXPECT_THAT(outcome.calls, ElementsAre("stopped by 15 after 6 of earlier runs"));
}

TEST(TrainLoop, StateIsCopiedWhenItIsToldAndBeforeItIsSaved) {
  const Outcome outcome = RunLoop(
      {.options = {.first_step = 0, .steps = 4, .save_every = 4, .snapshot_every = 2}, .saves = true, .copies = true});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.calls, ElementsAre("fill 0", "begin 0", "end 0", "carry", "told 0 loss 0",            //
                                         "fill 1", "begin 1", "end 1", "carry", "told 1 loss 1", "copy 2",  //
                                         "fill 2", "begin 2", "end 2", "carry", "told 2 loss 2",            //
                                         "fill 3", "begin 3", "end 3", "carry", "told 3 loss 3", "copy 4", "save 4"));
}

TEST(TrainLoop, NothingRunsAheadOfACopy) {
  const Outcome outcome =
      RunLoop({.options = {.first_step = 0, .steps = 2, .snapshot_every = 1}, .runs_ahead = true, .copies = true});
  EXPECT_THAT(outcome.calls, ElementsAre("fill 0", "begin 0", "end 0", "carry", "told 0 loss 0", "copy 1",  //
                                         "fill 1", "begin 1", "end 1", "carry", "told 1 loss 1", "copy 2"));
}

TEST(TrainLoop, RanksThatGiveWayLeaveACopyAndSaveNothing) {
  const LoopSetup setup = {.options = {.first_step = 0, .steps = 9, .snapshot_every = 0},
                           .saves = true,
                           .copies = true,
                           .signal = launch::kGiveWaySignal,
                           .stop_before = 3};
  const Outcome outcome = RunLoop(setup);
  EXPECT_TRUE(launch::IsInterrupted(outcome.status)) << outcome.status;
  EXPECT_EQ(outcome.calls.back(), "copy 3");
  LoopSetup copied = setup;
  copied.options.snapshot_every = 3;
  EXPECT_THAT(CallsNaming(RunLoop(copied).calls, "copy"), ElementsAre("copy 3")) << "not twice";
  LoopSetup at_once = setup;
  at_once.stop_before = 0;
  EXPECT_THAT(RunLoop(at_once).calls, ElementsAre());
}

TEST(TrainLoop, StateFromMemoryIsSavedThoughNoStepIsLeft) {
  const Outcome end = RunLoop({.options = {.first_step = 6, .steps = 0, .has_unsaved = true}, .saves = true});
  EXPECT_TRUE(end.status.ok()) << end.status;
  EXPECT_THAT(end.calls, ElementsAre("save 6"));
  const Outcome stop =
      RunLoop({.options = {.first_step = 6, .steps = 9, .has_unsaved = true}, .saves = true, .stop_before = 6});
  EXPECT_THAT(stop.calls, ElementsAre("save 6", "stopped by 15 after 6, saved"));
}

TEST(TrainLoop, ASaveThatDoesNotFinishFailsTheRun) {
  const Outcome outcome = RunLoop(
      {.options = {.first_step = 0, .steps = 1}, .saves = true, .finish = absl::ResourceExhaustedError("no space")});
  EXPECT_EQ(outcome.status.message(), "no space");
  EXPECT_FALSE(outcome.is_state_kept);
}

TEST(TrainLoop, ChecksBetweenStepsThatAreDue) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 3}, .checks_every = 2});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.calls,
              ElementsAre("fill 0", "guard before 0", "begin 0", "end 0", "guard ended 0", "carry", "told 0 loss 0",  //
                          "fill 1", "guard before 1", "begin 1", "end 1", "guard ended 1", "carry", "told 1 loss 1",
                          "check 2",  //
                          "fill 2", "guard before 2", "begin 2", "end 2", "guard ended 2", "carry", "told 2 loss 2",
                          "check 3"));
}

TEST(TrainLoop, NothingRunsWhileStateIsChecked) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 4}, .runs_ahead = true, .checks_every = 2});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(CallsNaming(outcome.calls, "e"), ElementsAre("end 0", "end 1", "end 2", "end 3"));
  EXPECT_THAT(outcome.calls,
              ElementsAre("fill 0", "guard before 0", "begin 0", "carry",                                    //
                          "fill 1", "guard before 1", "begin 1", "end 0", "guard ended 0", "told 0 loss 0",  //
                          "end 1", "guard ended 1", "carry", "told 1 loss 1", "check 2",                     //
                          "fill 2", "guard before 2", "begin 2", "carry",                                    //
                          "fill 3", "guard before 3", "begin 3", "end 2", "guard ended 2", "told 2 loss 2",  //
                          "end 3", "guard ended 3", "carry", "told 3 loss 3", "check 4"));
}

TEST(TrainLoop, StateAtFaultIsToldAndNotSaved) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 4, .save_every = 1},
                                   .saves = true,
                                   .checks_every = 100,
                                   .failing_check = 2});
  EXPECT_EQ(outcome.status.message(), "a bit flipped");
  EXPECT_THAT(CallsNaming(outcome.calls, "save"), ElementsAre("save 1"));
  EXPECT_THAT(CallsNaming(outcome.calls, "told"), ElementsAre("told 0 loss 0", "told 1 loss 1"));
}

TEST(TrainLoop, AStopChecksBeforeItSaves) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 9},
                                   .saves = true,
                                   .stop_before = 3,
                                   .checks_every = 100,
                                   .failing_check = 3});
  EXPECT_EQ(outcome.status.message(), "a bit flipped");
  EXPECT_THAT(CallsNaming(outcome.calls, "save"), ElementsAre());
}

// What is due behind the last step is done though the step is left out.
TEST(TrainLoop, GoesBackAndLeavesOutAStep) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 4},
                                   .saves = true,
                                   .checks_every = 2,
                                   .skipping_check = 4,
                                   .skipped_step = 3});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(CallsNaming(outcome.calls, "fill"), ElementsAre("fill 0", "fill 1", "fill 2", "fill 3", "fill 2"));
  EXPECT_THAT(CallsNaming(outcome.calls, "check"), ElementsAre("check 2", "check 4", "check 4"));
  EXPECT_THAT(CallsNaming(outcome.calls, "save"), ElementsAre("save 4"));
}

TEST(TrainLoop, OnlyCheckedStateIsCopied) {
  const Outcome outcome = RunLoop({.options = {.first_step = 0, .steps = 9, .snapshot_every = 1},
                                   .copies = true,
                                   .checks_every = 3,
                                   .failing_check = 6});
  EXPECT_EQ(outcome.status.message(), "a bit flipped");
  EXPECT_THAT(CallsNaming(outcome.calls, "copy"), ElementsAre("copy 3"));
}

TEST(TrainLoop, EndsWithTheFirstError) {
  const Outcome step = RunLoop({.options = {.first_step = 0, .steps = 3}, .saves = true, .failing_step = 1});
  EXPECT_EQ(step.status.message(), "the device failed");
  EXPECT_EQ(step.calls.back(), "begin 1");
  const Outcome data = RunLoop({.options = {.first_step = 0, .steps = 3}, .saves = true, .unreadable_step = 2});
  EXPECT_EQ(data.status.message(), "the file has become shorter");
  EXPECT_EQ(data.calls.back(), "fill 2");
  const Outcome save =
      RunLoop({.options = {.first_step = 0, .steps = 3, .save_every = 1}, .saves = true, .failing_save = 2});
  EXPECT_EQ(save.status.message(), "no space");
  EXPECT_EQ(save.calls.back(), "save 2");
}

}  // namespace
}  // namespace sgd::train
