// Launches, copies and fills on the thread pool; how each is cut has no influence on bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/device.h"
#include "targets/cpu/device/kernel_library.h"
#include "targets/cpu/device/threads/thread_pool.h"

namespace sgd::cpu {

// The function that a launch calls, and its arguments.
struct KernelCall {
  KernelFunction function = nullptr;
  std::vector<void*> buffers;
  std::vector<int64_t> coordinates;
  uint64_t range = 0;
  uint64_t grain = 1;  // parts begin at multiples of it
  uint64_t bytes = 0;  // of all buffers
};

// The pool must outlive the thunks.
std::unique_ptr<device::Thunk> MakeLaunch(ThreadPool& pool, KernelCall call);
// Calls that may run at the same time and in any order.
std::unique_ptr<device::Thunk> MakeLaunchGroup(ThreadPool& pool, std::vector<KernelCall> calls);
std::unique_ptr<device::Thunk> MakeCopy(ThreadPool& pool, const std::byte* source, std::byte* target, uint64_t bytes);
// `pattern` has 1 to 16 bytes, of which `bytes` is a multiple.
std::unique_ptr<device::Thunk> MakeFill(ThreadPool& pool, std::byte* target, uint64_t bytes,
                                        std::span<const uint8_t> pattern);

}  // namespace sgd::cpu
