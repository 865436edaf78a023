// The state of programs that draw random numbers by stablehlo.rng: an input and output which the compiler adds.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/data/feed.h"

namespace sgd::train {

// The input that the compiler names so: two U64, key and counter. It may be given like any other; else it starts from
// the seed.
inline bool IsGenerator(const data::InputType& input) {
  return input.name == "rng_state" && input.type.element == data::ElementType::U64 &&
         input.type.global_dims == data::Dims{2};
}

// What program `init` draws is far from what others do: these count from 0 and never get to half of all.
inline std::array<uint64_t, 2> GeneratorStart(uint64_t seed, bool is_init) {
  return {seed, is_init ? uint64_t{1} << 63 : 0};
}

}  // namespace sgd::train
