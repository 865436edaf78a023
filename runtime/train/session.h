// One rank's side of a run: device, memory, prepared program, and inputs filled as the job says.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/context.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/progress_watch.h"
#include "runtime/launch/launch.h"
#include "runtime/trace/start_times.h"
#include "runtime/train/carried_state.h"
#include "runtime/train/fed_inputs.h"
#include "runtime/train/job.h"
#include "runtime/train/rank_device.h"
#include "runtime/train/step_runner.h"
#include "runtime/watch/core_delay.h"
#include "runtime/watch/flight_ring.h"

namespace sgd::train {

// Callbacks of the program that a session runs in.
struct SessionHooks {
  OpenCpu open_cpu;
  std::function<void(const std::string&)> note;  // called with what is worth telling and no error, on the rank's thread
  watch::FlightRing* flight = nullptr;           // see exec::ExecutorOptions; borrowed
};

class Session : public StepRunner {
 public:
  // Agrees with the other ranks on artifact, command and device, then prepares everything and fills
  // the inputs for the first step; ends phases of `start`. `job` and `rank` are borrowed.
  static absl::StatusOr<std::unique_ptr<Session>> Create(const Job& job, const launch::RankContext& rank,
                                                         const SessionHooks& hooks, trace::StartTimes& start);
  ~Session() override;

  const Job& job() const { return job_; }
  const launch::RankContext& rank() const { return rank_; }
  // Those that it was created with.
  const SessionHooks& hooks() const { return hooks_; }
  bool is_first_rank() const { return rank_.rank == 0; }
  comm::Communicator& communicator() const { return device_.communicator(); }
  comm::Control& control() const { return *rank_.control; }
  exec::ExecutionContext& context() const { return *context_; }
  const exec::Executor& executor() const { return *executor_; }
  // The program that evaluates; the job has one. It is prepared before state is loaded, since the algorithms that are
  // tried then write what they compute.
  exec::Executor& eval_executor() const { return *eval_executor_; }

  void AllowDelay() override { wait_limit_.AllowDelay(); }
  absl::Status FillInputs(uint64_t step) override;
  absl::Status Begin(uint64_t step, bool carries) override;
  absl::Status End() override { return executor_->End(); }
  // Calls the observer around each instruction of the next step that begins: see Executor::RunObserved. Not on a device
  // with streams.
  void ObserveNextStep(exec::InstructionObserver& observer) { observer_ = &observer; }
  bool runs_ahead() const override { return has_streams() && !job_.options.times_instructions; }
  StepScalars ReadScalars() const override;
  const exec::StepTiming& timing() const override { return executor_->timing(); }
  absl::Status WriteOutputs() override;
  absl::Status CarryOutputs() override { return has_carried_ ? absl::OkStatus() : state_->Advance(); }

  watch::FlightRing* flight() const { return flight_; }
  // Of a job that trains on a device that the host waits for; else null.
  watch::CoreDelay* core_delay() const { return core_delay_.get(); }

  bool has_streams() const { return executor_->has_streams(); }
  // Whether the device still runs something a second after this was asked.
  bool IsBusy() const;

  // How data is read for steps [first_step, end_step): notes say the rank.
  data::ReadAhead::Options Reading(uint64_t first_step, uint64_t end_step) const;

  CarriedState& state() const { return *state_; }

  // This rank's bytes of `from`, which the ranks of `from_stage` have (-1: all), cut as `to`: the same tensor under
  // another sharding, or for other stages. All ranks call it.
  absl::StatusOr<std::vector<std::byte>> Recut(std::span<const std::byte> local, const data::TensorType& from,
                                               int32_t from_stage, const data::TensorType& to);

 private:
  Session(const Job& job, const launch::RankContext& rank)
      : job_(job), rank_(rank), wait_limit_(job.options.deadline) {}
  absl::Status Prepare(const SessionHooks& hooks, trace::StartTimes& start);
  absl::Status OpenContext(const SessionHooks& hooks);
  absl::Status WatchProgress();
  absl::StatusOr<std::unique_ptr<exec::Executor>> MakeExecutor(const std::string& program);
  absl::Status Agree();
  absl::Status FillFirstInputs();
  absl::Status RunInit();

  const Job& job_;
  launch::RankContext rank_;
  RankDevice device_;
  std::unique_ptr<exec::ProgressWatch> progress_;  // of a device that computes while the host waits for it
  exec::LoopLimits loop_limits_;
  exec::WaitLimit wait_limit_;
  absl::Time last_begin_ = absl::InfinitePast();  // of a step
  watch::FlightRing* flight_ = nullptr;
  std::unique_ptr<watch::CoreDelay> core_delay_;
  std::unique_ptr<exec::ExecutionContext> context_;
  std::unique_ptr<exec::Executor> executor_, eval_executor_;
  std::unique_ptr<CarriedState> state_;
  std::unique_ptr<FedInputs> fed_;  // null without data
  SessionHooks hooks_;
  bool is_first_fill_ = true;
  bool has_carried_ = false;                       // the last step that has begun
  exec::InstructionObserver* observer_ = nullptr;  // of the next step
};

}  // namespace sgd::train
