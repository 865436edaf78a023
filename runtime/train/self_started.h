// Inputs that the compiler adds to a program, and that a run may start without a file for.
#pragma once

#include "runtime/data/feed.h"

namespace sgd::train {

// The state of compressed reductions, which starts from zeros.
inline bool StartsFromZeros(const data::InputType& input) {
  return input.role == artifact::InputRole::CompressionError;
}

// The state of a generator, which starts from the seed.
inline bool StartsFromSeed(const data::InputType& input) { return input.role == artifact::InputRole::Generator; }

inline bool StartsByItself(const data::InputType& input) { return StartsFromSeed(input) || StartsFromZeros(input); }

}  // namespace sgd::train
