// A matmul instruction as a thunk: packed matmuls over the thread pool.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/threads/thread_pool.h"
#include "targets/cpu/device/threads/thread_scratch.h"

namespace sgd::cpu {

// Unimplemented for booleans. Pool and scratch must outlive the thunk.
device::PreparedThunk MakeMatmul(ThreadPool& pool, ThreadScratch& scratch, const artifact::Matmul& matmul,
                                 const device::MemoryMap& memory);

}  // namespace sgd::cpu
