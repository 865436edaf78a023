// Steps of a prepared rank, and its state between them.
#include "runtime/train/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/device/streams.h"
#include "runtime/launch/failure_policy.h"
#include "runtime/train/redistribute.h"
#include "runtime/train/scalars.h"

namespace sgd::train {

Session::~Session() {
  if (rank_.policy != nullptr) rank_.policy->SetPosition(nullptr);
}

absl::Status Session::Begin(uint64_t step, bool carries) {
  const absl::Time now = SteadyNow();
  if (last_begin_ != absl::InfinitePast()) wait_limit_.StepAfter(now - last_begin_);
  last_begin_ = now;
  has_carried_ = carries && has_streams();
  if (exec::InstructionObserver* observer = std::exchange(observer_, nullptr))
    return executor_->RunObserved(step, *observer);
  return executor_->Begin(step, has_carried_ ? &state_->carry() : nullptr);
}

bool Session::IsBusy() const {
  device::Streams* const streams = context_->device().streams();
  if (streams == nullptr) return false;
  for (int milliseconds = 0; milliseconds < 1000; ++milliseconds) {
    const absl::StatusOr<bool> is_idle = streams->IsIdle();
    if (!is_idle.ok() || *is_idle) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

absl::Status Session::FillInputs(uint64_t step) {
  if (!is_first_fill_) state_->RestoreConstants();
  is_first_fill_ = false;
  if (job_.feed == nullptr) return absl::OkStatus();
  return fed_->Fill(step);
}

data::ReadAhead::Options Session::Reading(uint64_t first_step, uint64_t end_step) const {
  return {.first_step = first_step,
          .end_step = end_step,
          // Peers wait for this rank until the deadline: the one that knows the file is to end first.
          .deadline = 0.8 * job_.options.deadline,
          .note = [note = hooks_.note, rank = rank_.rank](const std::string& text) {
            if (note) note(absl::StrCat("rank ", rank, ": ", text));
          }};
}

StepScalars Session::ReadScalars() const {
  StepScalars scalars{.loss = {}, .outputs = train::ReadScalars(*executor_, job_.output_names)};
  if (job_.loss && executor_->outputs()[*job_.loss].is_held) scalars.loss = ReadOutput(*executor_, *job_.loss);
  return scalars;
}

absl::Status Session::WriteOutputs() {
  std::vector<checkpoint::LocalTensor> tensors;
  for (size_t i = 0; i < executor_->outputs().size(); ++i) {
    const exec::Tensor& output = executor_->outputs()[i];
    tensors.push_back({job_.output_names[i], output.shard, executor_->OutputBytes(i), output.is_first()});
  }
  if (absl::Status status = executor_->read_status(); !status.ok()) return status;
  return checkpoint::WriteShardedFile(job_.options.outputs, tensors, {}, *rank_.control, job_.options.deadline);
}

absl::StatusOr<std::vector<std::byte>> Session::Recut(std::span<const std::byte> local, const data::TensorType& from,
                                                      int32_t from_stage, const data::TensorType& to) {
  return Redistribute(local, from, to, context_->mesh(),
                      {.stage = from_stage, .ranks_of_stage = static_cast<uint32_t>(job_.file->ranks_of_stage())},
                      *rank_.control, job_.options.deadline);
}

}  // namespace sgd::train
