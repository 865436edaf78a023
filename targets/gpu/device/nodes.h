// Launches, copies and fills as nodes: arguments laid out once, one call of the driver for each execution.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/device.h"
#include "targets/gpu/device/cuda_queues.h"

namespace sgd::cuda {

struct KernelCall {
  CUfunction function = nullptr;
  uint32_t blocks = 0;  // along x; none runs nothing
  uint32_t threads = 1;
  uint32_t shared_bytes = 0;
  std::vector<uint64_t> arguments;  // addresses, then coordinates
};

std::unique_ptr<device::Node> MakeLaunch(CudaQueues& queues, KernelCall call);

// One after the other on the queue in use.
std::unique_ptr<device::Node> MakeSequence(std::vector<std::unique_ptr<device::Node>> nodes);

// Unimplemented for ranges that overlap: the plan has none.
absl::StatusOr<std::unique_ptr<device::Node>> MakeCopy(CudaQueues& queues, const std::byte* source, std::byte* target,
                                                       uint64_t bytes);

std::unique_ptr<device::Node> MakeFill(CudaQueues& queues, std::byte* target, uint64_t bytes,
                                       std::span<const uint8_t> pattern);

}  // namespace sgd::cuda
