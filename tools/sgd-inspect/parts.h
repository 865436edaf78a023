// The parts of an artifact's description.
#pragma once

namespace sgd::inspect {

// Which parts beside the summary. Sizes and offsets are bytes, per rank.
struct Parts {
  bool program = false;      // every instruction
  bool memory = false;       // every slice with the values in it and its lifetime
  bool collectives = false;  // operands of each collective
  bool kernels = false;      // every kernel: kernel_table.h
  bool explain = false;      // why each collective is there
};

}  // namespace sgd::inspect
