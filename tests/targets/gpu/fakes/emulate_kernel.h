// How the fake of the driver has kernels run: by a function of a library that a test names.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sgd::emulated {

struct KernelLaunch {
  uint32_t blocks;  // along x
  uint32_t threads;
  uint32_t shared_bytes;
};

// The exported function: runs all threads of a kernel of the module whose text is `module`. Arguments are 64 bits each,
// those that are addresses resolved to pointers of this process. False when it cannot.
using EmulateKernel = bool (*)(const char* module, const char* symbol, const KernelLaunch& launch,
                               const uint64_t* arguments, size_t count);
inline constexpr char kEmulateKernel[] = "sgd_emulate_kernel";

}  // namespace sgd::emulated
