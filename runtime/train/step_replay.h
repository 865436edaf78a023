// A step of a session that can be run again from the same inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "runtime/guard/rounding_noise.h"
#include "runtime/guard/value_record.h"
#include "runtime/train/session.h"

namespace sgd::train {

class StepReplay {
 public:
  // Borrows the session, whose device has no streams.
  explicit StepReplay(Session& session);

  Session& session() const { return session_; }

  // Keeps all inputs of the step that is about to begin.
  void KeepInputs();
  // Keeps the outputs of the step that has ended which are not carried.
  void KeepOutputs();

  // Runs the step from the inputs that were kept, and carries its outputs. With `seed`, all values are moved to
  // neighbours. With `records`, says what instructions have computed.
  absl::Status Run(uint64_t step, std::optional<uint64_t> seed, guard::ValueRecords* records);

  std::span<const std::byte> InputBefore(size_t input) const { return inputs_[input]; }
  std::span<std::byte> MutableInputBefore(size_t input) { return inputs_[input]; }
  std::span<const std::byte> Output(size_t output) const { return outputs_[output]; }
  std::span<const std::byte> InputAfter(size_t input) const { return session_.state().Bytes(input); }

  // The state behind the step, for when it has been replayed.
  void KeepState();
  void RestoreState();

 private:
  using Tensors = std::vector<std::vector<std::byte>>;  // by position; empty where they are not of this rank

  void Keep(Tensors& tensors) const;
  void Restore(const Tensors& tensors);

  Session& session_;
  std::vector<bool> is_carried_;  // by output
  Tensors inputs_, outputs_, state_;
};

}  // namespace sgd::train
