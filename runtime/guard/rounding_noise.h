// Rounding as an experiment: every float of a step is moved by up to a unit in the last place, which shows how far
// other orders of its reductions and other fusions may move results. Monte Carlo arithmetic does the same with each
// operation (Parker, 1997); here it is each result of an instruction, in the type that it is rounded to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/artifact/operands.h"
#include "runtime/exec/executor.h"

namespace sgd::guard {

// Rounds floats to every other one: of each two neighbours, `seed` and their bits draw one that both become. So the
// same value becomes the same everywhere, larger ones do not become smaller, and what is rounded stays: a maximum still
// equals one of its operands, replicas stay replicas, and ranks take the same branches. Zero, infinities, what is not a
// number, and other types stay.
void MoveToNeighbours(artifact::ElementType element, uint64_t seed, std::span<std::byte> values);

// Observes a step and moves all that its instructions write.
class RoundingNoise : public exec::InstructionObserver {
 public:
  // Borrows both.
  RoundingNoise(const artifact::Artifact& root, const exec::Executor& executor, uint64_t seed)
      : root_(root), executor_(executor), seed_(seed) {}

  // The inputs that this rank holds, once they are filled.
  void MoveInputs() const;

  void Before(uint64_t) override {}
  void After(uint64_t index) override;

 private:
  const artifact::Artifact& root_;
  const exec::Executor& executor_;
  const uint64_t seed_;
};

}  // namespace sgd::guard
