// Convolutions by cuDNN.
#pragma once

#include <memory>

#include "runtime/device/algorithm_choices.h"
#include "runtime/device/device.h"
#include "targets/gpu/device/cudnn/cudnn.h"
#include "targets/gpu/device/driver/cuda_streams.h"

namespace sgd::cuda {

// The engine is chosen here, once, among those that fit in the plan's workspace and give the same bits every time; f32
// is multiplied as f32. Unimplemented, saying what to do, for what has no form (the compiler makes kernels of these) or
// no engine on this GPU.
device::PreparedThunk MakeConvolution(CudaStreams& streams, Cudnn& cudnn, device::AlgorithmChoices& choices,
                                      const artifact::Convolution& convolution, const device::MemoryMap& memory);

}  // namespace sgd::cuda
