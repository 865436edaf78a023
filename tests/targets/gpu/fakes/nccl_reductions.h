// Sums and other reductions as NCCL's, over operands that have come from all ranks.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sgd::emulated {

uint64_t SizeOf(ncclDataType_t type);

// parts[r] holds rank r's `count` elements; they are taken in the order of the runtime's own communicator
// (reduction_tree.h), f16 and bf16 in f32; NCCL's own order is another one.
void Reduce(ncclDataType_t type, const std::vector<std::vector<std::byte>>& parts, uint64_t count, ncclRedOp_t reduce,
            std::byte* target);

}  // namespace sgd::emulated
