// Products that the CPU's device has not, for devices of tests: of f8, and with an operand's sums.
#pragma once

#include <memory>

#include "runtime/device/device.h"

namespace sgd::emulator {

// Whether MakePlainProduct is to make it.
bool IsPlainProduct(const artifact::Matmul& matmul);

// Three loops, with sums in f64 rounded once; no activation. Of f8, f16, bf16 and f32.
std::unique_ptr<device::Thunk> MakePlainProduct(const artifact::Matmul& matmul, const device::MemoryMap& memory);

}  // namespace sgd::emulator
