// Decompositions and solvers of linear algebra by LAPACK: one thread per matrix, the batch dealt out to threads.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/linear_algebra/lapack_library.h"
#include "targets/cpu/device/threads/thread_pool.h"

namespace sgd::cpu {

// Of a verified instruction. Pool and library must outlive the thunk. Which thread computes a matrix has no influence
// on its bits.
device::PreparedThunk MakeLinearAlgebra(ThreadPool& pool, const LapackLibrary& library,
                                        const artifact::LinearAlgebra& call, const device::MemoryMap& memory);

}  // namespace sgd::cpu
