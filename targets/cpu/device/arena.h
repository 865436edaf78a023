// Page-aligned, zeroed memory of this process, whose pages idle threads take ahead.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/thread_pool.h"

namespace sgd::cpu {

// Large arenas ask for huge pages; where the pool, which must outlive the arena, has more than one
// thread, the others begin to take the pages of a large one, which they do until the pool is used.
// ResourceExhausted when the system refuses.
absl::StatusOr<std::unique_ptr<device::Arena>> AllocateArena(uint64_t bytes, ThreadPool& pool);

}  // namespace sgd::cpu
