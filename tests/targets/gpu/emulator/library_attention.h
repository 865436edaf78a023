// Attention as a GPU's library computes it: sums in high precision, weights and results rounded to the operands' type.
#pragma once

#include <memory>

#include "runtime/device/device.h"

namespace sgd::emulator {

// On the host's memory, over all columns of a row at once.
std::unique_ptr<device::Thunk> MakeLibraryAttention(const artifact::Attention& attention,
                                                    const device::MemoryMap& memory);

}  // namespace sgd::emulator
