// Attention by cuDNN.
#pragma once

#include <memory>

#include "runtime/device/algorithm_choices.h"
#include "runtime/device/device.h"
#include "targets/gpu/device/cudnn/cudnn.h"
#include "targets/gpu/device/driver/cuda_streams.h"

namespace sgd::cuda {

// The engine is chosen here, once, among those that fit in the plan's workspace and give the same bits every time.
// FailedPrecondition for versions of cuDNN that compute it wrongly, or not; Unimplemented where there is no engine on
// this GPU.
device::PreparedThunk MakeAttention(CudaStreams& streams, Cudnn& cudnn, device::AlgorithmChoices& choices,
                                    const artifact::Attention& attention, const device::MemoryMap& memory);

}  // namespace sgd::cuda
