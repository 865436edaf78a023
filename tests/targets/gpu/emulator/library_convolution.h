// Convolutions as a GPU's library computes them: with a dilated lhs, and results rounded to the operands' type.
#pragma once

#include <memory>

#include "runtime/device/device.h"

namespace sgd::emulator {

// Of floats; sums in f64, to which epilogues are applied before they are rounded.
std::unique_ptr<device::Thunk> MakeLibraryConvolution(const artifact::Convolution& convolution,
                                                      const device::MemoryMap& memory);

}  // namespace sgd::emulator
