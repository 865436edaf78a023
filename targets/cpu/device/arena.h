// Page-aligned, zeroed memory of this process.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace sgd::cpu {

// Large arenas ask for huge pages. ResourceExhausted when the system refuses.
absl::StatusOr<std::unique_ptr<device::Arena>> AllocateArena(uint64_t bytes);

}  // namespace sgd::cpu
