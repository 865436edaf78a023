// Matmuls that the CPU's device does not have, for devices of tests: of f8, and with an operand's reduction.
#pragma once

#include <memory>

#include "runtime/device/device.h"

namespace sgd::emulator {

// The number at an address, of any type.
double LoadElement(artifact::ElementType element, const std::byte* at);
// Writes a number as f32, or as f16 or bf16 by way of f32: each time to the nearest, ties to even.
void StoreElement(artifact::ElementType element, double value, std::byte* at);

// Whether MakePlainMatmul is to make it.
bool IsPlainMatmul(const artifact::Matmul& matmul);

// Three loops, with sums in f64 rounded once; no activation. Of f8, f16, bf16 and f32.
std::unique_ptr<device::Thunk> MakePlainMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory);

}  // namespace sgd::emulator
