// Launches, copies and fills as thunks: arguments laid out once, one call of the driver for each execution.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/device.h"
#include "targets/gpu/device/driver/cuda_streams.h"

namespace sgd::cuda {

struct KernelCall {
  CUfunction function = nullptr;
  uint32_t blocks = 0;  // along x; none runs nothing
  uint32_t threads = 1;
  uint32_t shared_bytes = 0;
  std::vector<uint64_t> arguments;  // addresses, then coordinates
};

std::unique_ptr<device::Thunk> MakeLaunch(CudaStreams& streams, KernelCall call);

// One after the other on the stream in use.
std::unique_ptr<device::Thunk> MakeSequence(std::vector<std::unique_ptr<device::Thunk>> thunks);

// Copies that overlap go through memory of their own.
device::PreparedThunk MakeCopy(CudaStreams& streams, const std::shared_ptr<const Driver>& driver,
                               const std::byte* source, std::byte* target, uint64_t bytes);

std::unique_ptr<device::Thunk> MakeFill(CudaStreams& streams, std::byte* target, uint64_t bytes,
                                        std::span<const uint8_t> pattern);

}  // namespace sgd::cuda
