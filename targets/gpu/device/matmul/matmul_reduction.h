// A matmul and the reduction of an operand as two matmuls, for libraries that have no kernel for both at once.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/gpu/device/driver/cuda_streams.h"

namespace sgd::cuda {

// Makes the thunk of a matmul on the same memory.
using MatmulMaker = std::function<device::PreparedThunk(const artifact::Matmul&)>;

// Of a verified `matmul` with a reduction of an operand: the matmul without it, then the operand times a vector of
// ones, which is written to the beginning of the workspace each time. ResourceExhausted where the workspace does not
// hold it.
device::PreparedThunk MakeMatmulThenReduction(CudaStreams& streams, const artifact::Matmul& matmul,
                                              const device::MemoryMap& memory, const MatmulMaker& make_matmul);

}  // namespace sgd::cuda
