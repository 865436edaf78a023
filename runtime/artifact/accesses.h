// Which bytes an instruction reads and writes: what overlap and order of instructions are judged by.
#pragma once

#include <vector>

#include "runtime/artifact/operands.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// Slices without bytes are left out. The writes include slices that an instruction changes only in part.
struct Accesses {
  std::vector<Slice> reads;
  std::vector<Slice> writes;
  // Those of the writes that are always read before: the result of an epilogue that accumulates.
  std::vector<Slice> updates;

  void Add(const Operand& operand);
};

bool Overlap(const Slice& a, const Slice& b);

// Returns the accesses of one execution of the instruction: for a loop or a case of its decision, not of its body.
Accesses AccessesOf(const Instruction& instruction);

}  // namespace sgd::artifact
