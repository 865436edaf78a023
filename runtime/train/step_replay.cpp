// Inputs are kept as they lie in the rank's memory, batches among them, so that no feed has to go back.
#include "runtime/train/step_replay.h"

#include <algorithm>

namespace sgd::train {

StepReplay::StepReplay(Session& session)
    : session_(session),
      is_carried_(session.executor().outputs().size()),
      outputs_(session.executor().outputs().size()) {
  for (const auto& [output, input] : session.job().carry) is_carried_[output] = true;
}

void StepReplay::Keep(Tensors& tensors) const {
  tensors.resize(session_.executor().inputs().size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::span<const std::byte> bytes = session_.executor().InputBytes(i);
    tensors[i].assign(bytes.begin(), bytes.end());
  }
}

void StepReplay::Restore(const Tensors& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) std::ranges::copy(tensors[i], session_.executor().InputBytes(i).begin());
}

void StepReplay::KeepInputs() { Keep(inputs_); }

void StepReplay::KeepState() { Keep(state_); }

void StepReplay::RestoreState() { Restore(state_); }

void StepReplay::KeepOutputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (is_carried_[i]) continue;
    const std::span<const std::byte> bytes = session_.executor().OutputBytes(i);
    outputs_[i].assign(bytes.begin(), bytes.end());
  }
}

absl::Status StepReplay::Run(uint64_t step, std::optional<uint64_t> seed, guard::ValueRecords* records) {
  Restore(inputs_);
  const artifact::Artifact& root = session_.job().file->root();
  std::optional<guard::RoundingNoise> noise;
  if (seed) noise.emplace(root, session_.executor(), *seed).MoveInputs();
  guard::ValueRecorder recorder(root, session_.executor(), noise ? &*noise : nullptr);
  if (records != nullptr) {
    recorder.AddInputs();
    session_.ObserveNextStep(recorder);
  } else if (noise) {
    session_.ObserveNextStep(*noise);
  }
  session_.AllowDelay();
  if (absl::Status status = session_.Begin(step, /*carries=*/false); !status.ok()) return status;
  if (absl::Status status = session_.End(); !status.ok()) return status;
  KeepOutputs();
  if (records != nullptr) *records = recorder.records();
  return session_.CarryOutputs();
}

}  // namespace sgd::train
