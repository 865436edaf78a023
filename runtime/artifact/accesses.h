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

// Of one execution of the instruction alone: of a loop or a case only what decides, not what they run.
Accesses AccessesOf(const Instruction& instruction);

}  // namespace sgd::artifact
