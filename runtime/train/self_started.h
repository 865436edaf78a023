// Inputs that the compiler adds to a program, and that a run may start without a file for.
#pragma once

#include "runtime/artifact/compression_state.h"
#include "runtime/data/feed.h"

namespace sgd::train {

// The state of compressed reductions, which starts from zeros.
inline bool StartsFromZeros(const data::InputType& input) { return artifact::IsCompressionState(input.name); }

// That and the state of a generator, which starts from the seed.
inline bool StartsByItself(const data::InputType& input) { return input.is_generator || StartsFromZeros(input); }

}  // namespace sgd::train
