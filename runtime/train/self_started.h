// Inputs that the compiler adds to a program, and that a run may start without a file for.
#pragma once

#include "runtime/artifact/evaluation_state.h"
#include "runtime/data/feed.h"

namespace sgd::train {

// The state of compressed reductions, which starts from zeros.
inline bool StartsFromZeros(const data::InputType& input) {
  return input.role == artifact::InputRole::CompressionError;
}

// The state of a generator, which starts from the seed.
inline bool StartsFromSeed(const data::InputType& input) { return input.role == artifact::InputRole::Generator; }

// Whether an eval program counts the input from batch to batch, starting from zeros.
inline bool CountsRows(const data::InputType& input) {
  return input.role == artifact::InputRole::Input && artifact::IsEvaluationState(input.name);
}

inline bool StartsByItself(const data::InputType& input) {
  return StartsFromSeed(input) || StartsFromZeros(input) || CountsRows(input);
}

}  // namespace sgd::train
