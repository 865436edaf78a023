// Events are made when a step first needs so many.
#include "runtime/exec/stream_timer.h"

#include <utility>

namespace sgd::exec {

absl::Status StreamTimer::Make(std::unique_ptr<device::Event>& event) const {
  if (event != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<device::Event>> made = streams_.MakeEvent(/*timed=*/true);
  if (!made.ok()) return made.status();
  event = *std::move(made);
  return absl::OkStatus();
}

absl::Status StreamTimer::BeginStep() {
  used_ = 0;
  absl::Status status = Make(step_begin_);
  return status.ok() ? step_begin_->Record(0) : status;
}

absl::Status StreamTimer::Begin(uint32_t instruction, uint32_t stream) {
  if (used_ == runs_.size()) runs_.emplace_back();
  Run& run = runs_[used_];
  run.instruction = instruction;
  run.stream = stream;
  absl::Status status = Make(run.begin);
  if (status.ok()) status = Make(run.end);
  return status.ok() ? run.begin->Record(stream) : status;
}

absl::Status StreamTimer::End() {
  const Run& run = runs_[used_++];
  return run.end->Record(run.stream);
}

absl::StatusOr<std::vector<InstructionRun>> StreamTimer::Collect() const {
  std::vector<InstructionRun> collected;
  for (size_t i = 0; i < used_; ++i) {
    const absl::StatusOr<absl::Duration> begin = runs_[i].begin->Since(*step_begin_);
    const absl::StatusOr<absl::Duration> length = runs_[i].end->Since(*runs_[i].begin);
    for (const auto& time : {begin, length}) {
      if (!time.ok()) return time.status();
    }
    collected.push_back({runs_[i].instruction, runs_[i].stream, *begin, *length});
  }
  return collected;
}

}  // namespace sgd::exec
