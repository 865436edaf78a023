// Flips a bit of a gradient of this rank in one step, as a fault of its memory would.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/artifact/program_generated.h"
#include "runtime/exec/instruction_observer.h"
#include "runtime/train/session.h"

namespace sgd::train {

// Summand: what the rank contributes to the sum over ranks. Sum: what it gets.
enum class GradientPart : uint8_t { kSummand, kSum };

class GradientFlipper : public exec::InstructionObserver {
 public:
  // Borrows the session. `draw` chooses one of the step's gradients, `bit` a bit of it, both modulo how many there are.
  GradientFlipper(Session& session, GradientPart part, uint64_t draw, uint64_t bit);

  void Before(uint64_t instruction) override;
  void After(uint64_t instruction) override;

 private:
  void Flip(uint64_t instruction);

  Session& session_;
  const GradientPart part_;
  const uint64_t bit_;
  uint64_t instruction_ = 0;
  std::optional<artifact::Slice> gradient_;  // none where it has been flipped
};

}  // namespace sgd::train
