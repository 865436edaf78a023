// The state of a prepared rank between steps: what a step carries into the next one, and what steps leave as it is.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/exec/carry.h"
#include "runtime/exec/context.h"
#include "runtime/exec/executor.h"
#include "runtime/train/job.h"

namespace sgd::train {

// This rank's state at a point between two steps, in the host's memory: steps, and threads beside them, do not change
// it.
class StateSnapshot {
 public:
  // Under the model's names; views of this snapshot.
  std::vector<checkpoint::LocalTensor> Tensors() const;
  bool is_empty() const { return tensors_.empty(); }

 private:
  friend class CarriedState;
  struct Tensor {
    size_t input;
    std::string name;
    data::Shard shard;
    bool writes;  // see LocalTensor
    std::vector<std::byte> bytes;
  };

  std::vector<Tensor> tensors_;
};

class CarriedState {
 public:
  // Borrows all, which outlive it.
  static absl::StatusOr<std::unique_ptr<CarriedState>> Create(const Job& job, exec::ExecutionContext& context,
                                                              exec::Executor& executor);

  // When the inputs hold what the first step starts from: sees to it that constant ones can be restored.
  absl::Status KeepConstants();
  // Before every further step: restores constant inputs that a step may have overwritten.
  void RestoreConstants();

  // Makes the results of the last step that has ended the state. Not for steps that do so themselves by carry().
  absl::Status Advance() { return carry_->Run(); }
  exec::Carry& carry() { return *carry_; }

  // The rest is for between steps, while none is in flight.

  // Everything that a checkpoint keeps: carried and constant inputs, under the model's names. Views, valid until the
  // next step.
  std::vector<checkpoint::LocalTensor> Tensors() const;
  // Copies the same. A snapshot that was taken before is used again, without an allocation; constant inputs are copied
  // the first time alone. The error of a device that cannot be read.
  absl::Status Snapshot(StateSnapshot& snapshot) const;
  // Makes the state what it was then, for a snapshot of this program on this rank; FailedPrecondition for another one.
  // All ranks call it.
  absl::Status Restore(const StateSnapshot& snapshot);

  // Whether a carried or constant input keeps its value on the device between steps.
  bool IsInPlace(size_t input) const { return job_.IsCarried(input) || is_kept_[input]; }
  // This rank's bytes of a carried or constant input.
  std::span<const std::byte> Bytes(size_t input) const;
  std::span<std::byte> MutableBytes(size_t input) const { return executor_.InputBytes(input); }

 private:
  CarriedState(const Job& job, exec::ExecutionContext& context, exec::Executor& executor)
      : job_(job), context_(context), executor_(executor) {}

  const Job& job_;
  exec::ExecutionContext& context_;
  exec::Executor& executor_;
  std::unique_ptr<exec::Carry> carry_;
  std::vector<bool> is_kept_;  // by input: constant, and nothing overwrites it
  // This rank's bytes of the other constant inputs by position, where the executor does not hold them; empty for
  // others.
  std::vector<std::vector<std::byte>> constants_;
};

}  // namespace sgd::train
