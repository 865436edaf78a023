// Ranks are threads; each flips its own memory.
#include "tests/runtime/train/flipped_training.h"

#include "runtime/train/job_outputs.h"
#include "runtime/train/rank_device.h"
#include "runtime/train/run_modes.h"
#include "runtime/train/train_loop.h"
#include "runtime/train/training_guard.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::train {
namespace {

class Flipper : public StepRunner, public StateEvaluator {
 public:
  Flipper(Session& session, const std::optional<Flip>& flip) : session_(session) {
    if (flip && flip->rank == session.context().rank()) flip_ = flip;
  }

  absl::Status FillInputs(uint64_t step) override { return session_.FillInputs(step); }
  absl::Status Begin(uint64_t step, bool carries) override {
    if (flip_ && flip_->is_within && flip_->step == step) FlipOnce();
    next_step_ = step + 1;
    return session_.Begin(step, carries);
  }
  absl::Status End() override { return session_.End(); }
  bool runs_ahead() const override { return session_.runs_ahead(); }
  StepScalars ReadScalars() const override { return session_.ReadScalars(); }
  const exec::StepTiming& timing() const override { return session_.timing(); }
  absl::Status WriteOutputs() override { return session_.WriteOutputs(); }
  absl::Status CarryOutputs() override { return session_.CarryOutputs(); }

  // Called between two steps, when the guard has looked at the state.
  absl::StatusOr<EvalMeans> Evaluate() override {
    if (flip_ && !flip_->is_within && flip_->step == next_step_) FlipOnce();
    return EvalMeans{};
  }

 private:
  void FlipOnce() {
    const auto mask = static_cast<std::byte>(((1u << flip_->bits) - 1) << (flip_->bit % 8));
    session_.state().MutableBytes(flip_->input)[flip_->bit / 8] ^= mask;
    flip_.reset();
  }

  Session& session_;
  std::optional<Flip> flip_;
  uint64_t next_step_ = 0;
};

absl::Status TrainOne(Session& session, const std::optional<Flip>& flip, TrainObserver* observer) {
  Flipper flipper(session, flip);
  TrainingGuard guard(session, observer);
  return TrainLoop({.runner = flipper,
                    .control = session.control(),
                    .evaluator = &flipper,
                    .observer = observer,
                    .guard = &guard},
                   {.first_step = session.job().first_step,
                    .steps = session.job().options.steps,
                    .eval_every = 1,
                    .deadline = session.job().options.deadline})
      .Run();
}

launch::RankContext RankOf(comm::SharedMemoryCommunicator& communicator) {
  launch::RankContext rank;
  rank.rank = rank.local_rank = communicator.control().rank();
  rank.size = rank.local_size = communicator.control().size();
  rank.control = &communicator.control();
  rank.communicator = &communicator;
  return rank;
}

}  // namespace

std::vector<absl::Status> TrainWithFlip(const Job& job, const std::optional<Flip>& flip, TrainObserver& observer) {
  std::vector<absl::Status> outcomes(job.file->ranks());
  const auto ranks = static_cast<uint32_t>(job.file->ranks());
  comm::RunAsThreads(ranks, HostWindowBytes(*job.file), [&](comm::SharedMemoryCommunicator& communicator) {
    const launch::RankContext rank = RankOf(communicator);
    const SessionHooks hooks{.open_cpu = [](const launch::RankContext&) { return cpu::CpuDevice::Create({1}); },
                             .note = [](const std::string&) {}};
    trace::StartTimes start(trace::MonotonicNanoseconds());
    outcomes[rank.rank] = WithSession(job, rank, hooks, start, [&](Session& session) {
      return TrainOne(session, flip, session.is_first_rank() ? &observer : nullptr);
    });
  });
  return outcomes;
}

}  // namespace sgd::train
