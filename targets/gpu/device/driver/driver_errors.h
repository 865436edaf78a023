// Explains errors of the driver, and what the user can do about them.
#pragma once

#include <cuda.h>

#include "absl/status/status.h"

namespace sgd::cuda {

// ResourceExhausted for memory; FailedPrecondition for what this machine has not; DataLoss for errors after which a
// process can do nothing more with its GPU, which any of the calls and kernels before may have caused; else Internal.
absl::StatusCode CodeOf(CUresult result);

// A sentence for the end of a message, without a full stop; empty where the driver's own words say enough.
const char* AdviceFor(CUresult result);

}  // namespace sgd::cuda
