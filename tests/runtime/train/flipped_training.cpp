// Ranks are threads; each flips its own memory.
#include "tests/runtime/train/flipped_training.h"

#include "runtime/guard/checksum.h"
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
  // Borrows `sums`, this rank's, which may be null.
  Flipper(Session& session, const std::optional<Flip>& flip, std::vector<std::vector<uint64_t>>* sums)
      : session_(session), sums_(sums) {
    if (flip && flip->rank == session.context().rank()) flip_ = flip;
  }

  absl::Status FillInputs(uint64_t step) override { return session_.FillInputs(step); }
  absl::Status Begin(uint64_t step, bool carries) override {
    if (flip_ && flip_->gradient && flip_->step == step) {
      gradient_flipper_.emplace(session_, *flip_->gradient, flip_->input, flip_->bit);
      session_.ObserveNextStep(*gradient_flipper_);
      flip_.reset();
    }
    if (flip_ && flip_->is_within && flip_->step == step) FlipOnce();
    next_step_ = step + 1;
    return session_.Begin(step, carries);
  }
  absl::Status End() override { return session_.End(); }
  bool runs_ahead() const override { return session_.runs_ahead(); }
  StepScalars ReadScalars() const override { return session_.ReadScalars(); }
  const exec::StepTiming& timing() const override { return session_.timing(); }
  absl::Status WriteOutputs() override { return session_.WriteOutputs(); }
  absl::Status CarryOutputs() override {
    absl::Status status = session_.CarryOutputs();
    if (sums_ != nullptr && status.ok()) sums_->push_back(Sums());
    return status;
  }

  // Called between two steps, when the guard has looked at the state.
  absl::StatusOr<EvalMeans> Evaluate() override {
    if (flip_ && !flip_->is_within && !flip_->gradient && flip_->step == next_step_) FlipOnce();
    return EvalMeans{};
  }

 private:
  void FlipOnce() {
    const auto mask = static_cast<std::byte>(((1u << flip_->bits) - 1) << (flip_->bit % 8));
    session_.state().MutableBytes(flip_->input)[flip_->bit / 8] ^= mask;
    flip_.reset();
  }

  std::vector<uint64_t> Sums() const {
    std::vector<uint64_t> sums;
    for (const auto& [output, input] : session_.job().carry) {
      const guard::ShardBytes bytes(session_.executor().inputs()[input].shard);
      sums.push_back(bytes.Sum(session_.state().Bytes(input)).sum);
    }
    return sums;
  }

  Session& session_;
  std::vector<std::vector<uint64_t>>* const sums_;
  std::optional<Flip> flip_;
  std::optional<GradientFlipper> gradient_flipper_;
  uint64_t next_step_ = 0;
};

absl::Status TrainOne(Session& session, const std::optional<Flip>& flip, TrainObserver* observer,
                      std::vector<std::vector<uint64_t>>* sums) {
  Flipper flipper(session, flip, sums);
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

std::vector<absl::Status> TrainWithFlip(const Job& job, const std::optional<Flip>& flip, TrainObserver& observer,
                                        StateSums* sums) {
  std::vector<absl::Status> outcomes(job.file->ranks());
  const auto ranks = static_cast<uint32_t>(job.file->ranks());
  if (sums != nullptr) sums->assign(ranks, {});
  comm::RunAsThreads(ranks, HostWindowBytes(*job.file), [&](comm::SharedMemoryCommunicator& communicator) {
    const launch::RankContext rank = RankOf(communicator);
    const SessionHooks hooks{.open_cpu = [](const launch::RankContext&) { return cpu::CpuDevice::Create({1}); },
                             .note = [](const std::string&) {}};
    trace::StartTimes start(trace::MonotonicNanoseconds());
    outcomes[rank.rank] = WithSession(job, rank, hooks, start, [&](Session& session) {
      return TrainOne(session, flip, session.is_first_rank() ? &observer : nullptr,
                      sums == nullptr ? nullptr : &(*sums)[rank.rank]);
    });
  });
  return outcomes;
}

}  // namespace sgd::train
