// By the host's clock around streams that are empty before and after.
#include "targets/gpu/device/driver/candidate_timing.h"

#include <chrono>

namespace sgd::cuda {
namespace {

constexpr int kExecutions = 5;

absl::Status Run(CudaStreams& streams, const std::function<absl::Status()>& execute, int times) {
  for (int i = 0; i < times; ++i) {
    if (absl::Status status = execute(); !status.ok()) return status;
  }
  return streams.Synchronize();
}

}  // namespace

absl::StatusOr<absl::Duration> TimeCandidate(CudaStreams& streams, const std::function<absl::Status()>& execute) {
  if (absl::Status status = Run(streams, execute, 1); !status.ok()) return status;
  const auto begin = std::chrono::steady_clock::now();
  if (absl::Status status = Run(streams, execute, kExecutions); !status.ok()) return status;
  return absl::FromChrono(std::chrono::steady_clock::now() - begin) / kExecutions;
}

}  // namespace sgd::cuda
