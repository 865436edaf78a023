// A collective as a list of calls of the driver and of NCCL, made before the first step.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/comm/one_host/collective_plan.h"
#include "targets/gpu/device/driver/driver.h"
#include "targets/gpu/device/nccl/nccl.h"
#include "targets/gpu/device/nccl/nccl_group.h"

namespace sgd::cuda {

// One call, or one group of calls of NCCL, on the stream of its argument.
using Action = std::function<absl::Status(CUstream stream)>;

// The environment of actions. They keep the pointers.
struct ActionPlace {
  const Driver* driver;
  const Nccl* nccl;        // null for a group of one rank
  const NcclGroup* group;  // null for a group of one rank
  std::byte* window;       // of this rank, on the device
};

// Of a spec that has passed CheckSpec, for one rank. The operands of a bucket are one group of calls. InvalidArgument
// for less staging than is packed in; Unimplemented for reductions that NCCL has not, which the compiler replaces.
absl::StatusOr<std::vector<Action>> MakeActions(const ActionPlace& place, const comm::Mesh& mesh,
                                                const comm::CollectiveSpec& spec, const comm::CollectivePlan& plan);

}  // namespace sgd::cuda
