// Which of a program's tensors the operands of its collectives are, by where they come from and where they go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/artifact/accesses.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::inspect {

class TensorNames {
 public:
  // `program` is verified, and borrowed.
  explicit TensorNames(const artifact::Program& program);

  // Of an operand of the collective at `index`, whose results are there after instruction `end`. "params.w" for an
  // input, "gradient of params.w" for what only the update of a parameter reads, "new params.w" for a result that is an
  // input of the next step; empty where nothing is known.
  std::string Of(uint32_t index, uint32_t end, uint32_t operand) const;

 private:
  // Slices that one instruction, or one launch of a group, touches.
  struct Touched {
    uint32_t instruction;
    artifact::Accesses accesses;
  };
  std::string InputAt(const artifact::Slice& slice, uint32_t index) const;
  std::string UpdatedBy(const artifact::Slice& slice, uint32_t end) const;
  std::string ResultAt(const artifact::Slice& slice, uint32_t end) const;

  const artifact::Program& program_;
  std::vector<Touched> touched_;  // in the order of instructions
};

}  // namespace sgd::inspect
