// Matrix products by cuBLASLt.
#pragma once

#include <memory>

#include "runtime/device/device.h"
#include "targets/gpu/device/cublas_lt.h"
#include "targets/gpu/device/cuda_queues.h"

namespace sgd::cuda {

// The algorithm is chosen here, once, among those that fit in the plan's workspace and give the same bits every time;
// sums in f32 for f16, bf16 and f32 (never tf32), in f64 for f64. Unimplemented for other types and for strides or a
// bias that the library does not take.
absl::StatusOr<std::unique_ptr<device::Node>> MakeMatmul(CudaQueues& queues, CublasLt& library,
                                                         const artifact::Matmul& matmul,
                                                         const device::MemoryMap& memory);

}  // namespace sgd::cuda
