// Matmuls that the CPU's device does not have, for devices of tests: of f8, and with an operand's reduction.
#pragma once

#include <memory>

#include "runtime/device/device.h"

namespace sgd::emulator {

// Whether MakePlainMatmul is to make it.
bool IsPlainMatmul(const artifact::Matmul& matmul);

// Three loops, with sums in f64 rounded once; no activation. Of f8, f16, bf16 and f32.
std::unique_ptr<device::Thunk> MakePlainMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory);

}  // namespace sgd::emulator
