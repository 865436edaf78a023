// A convolution instruction as a thunk: matmuls of its windows, packed as they are read, over the thread pool.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/threads/thread_pool.h"
#include "targets/cpu/device/threads/thread_scratch.h"

namespace sgd::cpu {

// Unimplemented for booleans, ResourceExhausted without memory for packed operands. Pool and scratch must outlive the
// thunk. The bits depend on sizes and strides alone.
device::PreparedThunk MakeConvolution(ThreadPool& pool, ThreadScratch& scratch,
                                      const artifact::Convolution& convolution, const device::MemoryMap& memory);

}  // namespace sgd::cpu
