// One rank's side of a run: device, memory, prepared program, and inputs filled as the job says.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/exec/carry.h"
#include "runtime/exec/context.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/progress_watch.h"
#include "runtime/launch/launch.h"
#include "tools/sgdrun/job.h"
#include "tools/sgdrun/rank_device.h"
#include "tools/sgdrun/start_times.h"

namespace sgd::sgdrun {

class Session {
 public:
  // Agrees with the other ranks on artifact, command and device, then prepares everything and fills
  // the inputs for the first step; ends phases of `start`. `job` and `rank` are borrowed.
  static absl::StatusOr<std::unique_ptr<Session>> Create(const Job& job, const launch::RankContext& rank,
                                                         StartTimes& start);

  const Job& job() const { return job_; }
  bool is_first_rank() const { return rank_.rank == 0; }
  comm::Communicator& communicator() const { return device_.communicator(); }
  comm::Control& control() const { return *rank_.control; }
  exec::ExecutionContext& context() const { return *context_; }
  const exec::Executor& executor() const { return *executor_; }
  // The program that evaluates; the job has one. It is prepared before state is loaded, since the algorithms that are
  // tried then write what they compute.
  exec::Executor& eval_executor() const { return *eval_executor_; }

  // Fills what a step's data feed gives, and restores constant inputs that the step before may have
  // overwritten.
  void FillInputs(uint64_t step);
  // One step over the filled inputs; `carries` as of Begin.
  absl::Status Run(uint64_t step, bool carries = false);
  // The same in two parts: see Executor::Begin. With `runs_ahead` a step may begin before the one before it has ended.
  // With `carries` it makes carried outputs the next step's inputs itself where the device can: of its outputs only
  // scalars can be read.
  absl::Status Begin(uint64_t step, bool carries = false);
  absl::Status End() { return executor_->End(); }
  bool has_queues() const { return executor_->has_queues(); }
  bool runs_ahead() const { return has_queues() && !executor_options().profile; }
  // Whether the device still runs something a second after this was asked.
  bool IsBusy() const;
  // Makes carried outputs the next step's inputs, unless the last step that has begun does; outputs are lost.
  absl::Status CarryOutputs() { return has_carried_ ? absl::OkStatus() : carry_->Run(); }

  // Writes the outputs of the last Run, before CarryOutputs, to --outputs. All ranks call it.
  absl::Status WriteOutputs();
  // Everything that a checkpoint keeps: carried and constant inputs, under the model's names.
  std::vector<checkpoint::LocalTensor> State() const;

  // This rank's bytes of `from`, cut as `to`: the same tensor under another sharding. All ranks
  // call it.
  absl::StatusOr<std::vector<std::byte>> Recut(std::span<const std::byte> local, const data::TensorType& from,
                                               const data::TensorType& to);

  // Whether a carried or constant input lies in its place between steps.
  bool IsInPlace(size_t input) const { return job_.IsCarried(input) || is_kept_[input]; }
  // This rank's bytes of a carried or constant input, between steps.
  std::span<const std::byte> StateBytes(size_t input) const;
  std::span<std::byte> MutableStateBytes(size_t input) const { return executor_->InputBytes(input); }

 private:
  Session(const Job& job, const launch::RankContext& rank) : job_(job), rank_(rank) {}
  absl::Status Prepare(StartTimes& start);
  exec::ExecutorOptions executor_options() const;
  absl::StatusOr<std::unique_ptr<exec::Executor>> MakeExecutor(const std::string& program);
  absl::Status Agree();
  absl::Status FillFirstInputs();
  absl::Status KeepConstants();
  absl::Status RunInit();

  const Job& job_;
  launch::RankContext rank_;
  RankDevice device_;
  std::unique_ptr<exec::ProgressWatch> progress_;  // of a device that computes while the host waits for it
  std::unique_ptr<exec::ExecutionContext> context_;
  std::unique_ptr<exec::Executor> executor_, eval_executor_;
  std::unique_ptr<exec::Carry> carry_;
  std::vector<bool> is_kept_;  // by input: constant, and nothing overwrites it
  // This rank's bytes of the other constant inputs by position, where the executor does not hold them; empty for
  // others.
  std::vector<std::vector<std::byte>> constants_;
  bool is_first_fill_ = true;
  bool has_carried_ = false;  // the last step that has begun
};

}  // namespace sgd::sgdrun
