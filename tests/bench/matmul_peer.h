// The matmul of another library, measured beside ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/artifact/program_generated.h"

namespace sgd::bench {

// Computes the matmul and its bias over `base`, which must outlive it, on so many threads. Empty where the library
// is not there or does not know the element type or the strides.
std::function<void()> MakePeerMatmul(const artifact::MatmulT& matmul, std::byte* base, uint32_t threads);

}  // namespace sgd::bench
