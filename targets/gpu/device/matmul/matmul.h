// Matmuls by cuBLASLt.
#pragma once

#include <memory>

#include "runtime/device/algorithm_choices.h"
#include "runtime/device/device.h"
#include "targets/gpu/device/driver/cuda_streams.h"
#include "targets/gpu/device/matmul/cublas_lt.h"

namespace sgd::cuda {

// The algorithm is the one of `choices`, or chosen here among those that fit in the plan's workspace and give the same
// bits every time; sums in f32 for f16, bf16 and f32 (of TF32 where the instruction allows it), in f64 for f64.
// Unimplemented for other types and for strides or an epilogue that the library does not take.
device::PreparedThunk MakeMatmul(CudaStreams& streams, CublasLt& library, const artifact::Matmul& matmul,
                                 const device::MemoryMap& memory, device::AlgorithmChoices& choices);

}  // namespace sgd::cuda
