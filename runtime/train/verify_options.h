// How many steps a run compares with one rank, and what it does where they differ.
#pragma once

#include <cstdint>

namespace sgd::train {

struct VerifyOptions {
  uint64_t steps = 0;       // the first of the run; 0: none
  bool only_notes = false;  // whether a difference is noted and the run goes on
};

}  // namespace sgd::train
