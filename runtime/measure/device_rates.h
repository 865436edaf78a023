// Rates of a rank's device while the devices of all other ranks do the same work.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/device/device.h"

namespace sgd::measure {

// Of the slowest rank.
struct DeviceRates {
  double flops = 0;             // per second, of an f32 matmul
  double half_flops = 0;        // of a bf16 matmul
  double memory_bandwidth = 0;  // bytes per second, read and written, of a copy
  uint64_t cache_bytes = 0;     // of the rank with the least; 0: not known
  double cache_bandwidth = 0;   // as memory_bandwidth, of a copy within caches, where they are known
  double packed_elements = 0;   // per second, of windows that a convolution packs; 0: not measured
  double launch_latency = 0;    // seconds of a kernel that does next to nothing, one of many
};

struct DeviceSizes {
  uint64_t most_matmul;      // rows, columns and depth of the largest matmul
  uint64_t copied_bytes;     // beyond caches
  double least_seconds;      // of the matmul that counts: smaller ones say little
  uint64_t cache_bytes = 0;  // of a rank; 0: not known
  bool packs = false;        // libraries pack the windows of convolutions
};
inline constexpr DeviceSizes kCpuSizes{
    .most_matmul = 2048, .copied_bytes = 64 << 20, .least_seconds = 2e-2, .packs = true};
inline constexpr DeviceSizes kGpuSizes{.most_matmul = 8192, .copied_bytes = 256 << 20, .least_seconds = 2e-3};

// All ranks call it. `timeout` bounds each wait for another rank.
absl::StatusOr<DeviceRates> MeasureDevice(device::Device& device, comm::Control& control, const DeviceSizes& sizes,
                                          absl::Duration timeout);

}  // namespace sgd::measure
