// Element types and reductions as NCCL has them.
#pragma once

#include <nccl.h>

#include <optional>

#include "runtime/comm/collectives/collective_spec.h"

namespace sgd::cuda {

std::optional<ncclDataType_t> NcclTypeOf(comm::ElementType element);

// Booleans, bytes of 0 and 1, are combined by minimum and maximum; other integers cannot be by and and or.
std::optional<ncclRedOp_t> NcclReductionOf(comm::ReduceKind reduce, comm::ElementType element);

}  // namespace sgd::cuda
