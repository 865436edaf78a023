// The state of programs that draw random numbers by stablehlo.rng: an input and output which the compiler adds.
#pragma once

#include <array>
#include <cstdint>

namespace sgd::train {

// Key and counter of an input with the role Generator that no file gives. Numbers of program `init` are far from those
// of other programs, which count from 0 and never reach half of all.
inline std::array<uint64_t, 2> GeneratorStart(uint64_t seed, bool is_init) {
  return {seed, is_init ? uint64_t{1} << 63 : 0};
}

}  // namespace sgd::train
