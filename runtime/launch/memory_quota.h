// The memory that this process may use.
#pragma once

#include <cstdint>

namespace sgd::launch {

// Bytes of this host's memory, or of its control group's limit if that is less.
uint64_t HostMemoryBytes();

}  // namespace sgd::launch
