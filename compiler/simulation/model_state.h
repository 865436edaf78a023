// Tells the memory of a program's model from that of a step's activations.
#ifndef SGD_COMPILER_SIMULATION_MODEL_STATE_H
#define SGD_COMPILER_SIMULATION_MODEL_STATE_H

#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// Bytes of a rank.
struct ModelState {
  uint64_t kept = 0;       ///< inputs that are carried from step to step: parameters and an optimizer's state
  uint64_t gradients = 0;  ///< what the loop over parts of the batch adds up; 0 where a batch is one part

  uint64_t getBytes() const { return kept + gradients; }
};

/// Read off the plan: a buffer that is zeroed, changed by a loop and then read outside of loops holds a sum.
ModelState measureModelState(const ::sgd::artifact::Program& program);

}  // namespace mlir::sgd

#endif
