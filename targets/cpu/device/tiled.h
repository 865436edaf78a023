// A Tiled as a thunk: tiles over the thread pool, all steps of one on one thread, scratch memory per thread.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/kernel_library.h"
#include "targets/cpu/device/threads/thread_pool.h"
#include "targets/cpu/device/threads/thread_scratch.h"

namespace sgd::cpu {

// Memory of the threads; different, since a matmul runs while the tile's values are kept.
struct TileScratch {
  ThreadScratch& matmuls;
  ThreadScratch& tiles;
};

// Unimplemented for matmuls of booleans; ResourceExhausted without memory for the scratch. Pool and scratch must
// outlive the thunk. Results do not depend on the number of threads: a tile is computed by one.
device::PreparedThunk MakeTiled(ThreadPool& pool, TileScratch scratch, const artifact::Tiled& tiled,
                                const CpuKernelLibrary& kernels, const device::MemoryMap& memory);

}  // namespace sgd::cpu
