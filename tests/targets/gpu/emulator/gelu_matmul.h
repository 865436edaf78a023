// Matmuls with gelu, for devices of tests: the CPU's have none.
#pragma once

#include <memory>

#include "runtime/device/device.h"

namespace sgd::emulator {

// The matmul with its bias by `cpu`, rounded to the element type, then its activation element by element. C and aux
// must be dense; f16 and bf16.
device::PreparedThunk MakeGeluMatmul(device::Device& cpu, const artifact::Matmul& matmul,
                                     const device::MemoryMap& memory);

}  // namespace sgd::emulator
