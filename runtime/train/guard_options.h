// The checks of a guard, and its actions.
#pragma once

#include <cstdint>

namespace sgd::train {

struct GuardOptions {
  uint64_t every = 0;        // steps between checks; 0: no guard
  double loss_factor = 0;    // the most that a loss may be of the running median; 0: anything
  double gradient_norm = 0;  // the largest that the output grad_norm may be; 0: anything
  bool skips_steps = false;  // leaves out a step at fault instead of ending the run

  bool is_on() const { return every > 0; }
};

}  // namespace sgd::train
