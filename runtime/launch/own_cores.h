// Which cores a rank may take for itself, beside the other ranks of its host.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace sgd::launch {

// `masks` says where each rank of this host may run, `own` which of them is this one. The cores that it has for itself,
// bound to them: those of its mask when no other rank's has them; a part when all ranks were started with the same
// mask, as by torchrun; else none.
std::vector<int> TakeOwnCores(absl::Span<const cpu_set_t> masks, uint32_t own);

}  // namespace sgd::launch
