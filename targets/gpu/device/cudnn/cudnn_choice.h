// The execution plan of an operation graph: its engine is chosen once and kept with the other choices.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/device/algorithm_choices.h"
#include "targets/gpu/device/cudnn/cudnn.h"
#include "targets/gpu/device/cudnn/cudnn_engines.h"

namespace sgd::cuda {

struct PlanRequest {
  const CudnnDescriptor& graph;
  EngineLimits limits;
  std::string key;   // all that the choice depends on
  std::string what;  // "backward attention of bf16", for messages
  std::string advice;
};

// The first of cuDNN's proposals that can be planned, or the fastest of some where choices ask for times: `time`
// executes a plan. Unimplemented, saying what was asked and the advice, when there is none.
absl::StatusOr<CudnnDescriptor> ChoosePlan(
    const Cudnn& cudnn, const PlanRequest& request, device::AlgorithmChoices& choices,
    const std::function<absl::StatusOr<absl::Duration>(const CudnnDescriptor&)>& time);

}  // namespace sgd::cuda
