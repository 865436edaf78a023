// How long a candidate for an instruction takes, for thunks that are asked to time them (AlgorithmChoices).
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "targets/gpu/device/driver/cuda_streams.h"

namespace sgd::cuda {

// As many candidates as are worth the time: heuristics put the best among the first.
inline constexpr int kTimedCandidates = 8;

// The mean of some executions after a first one, which may load code. `execute` writes where the instruction will
// write, which is memory that its program overwrites before anyone reads it.
absl::StatusOr<absl::Duration> TimeCandidate(CudaStreams& streams, const std::function<absl::Status()>& execute);

}  // namespace sgd::cuda
