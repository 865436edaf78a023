// Properties of devices that ranks need besides their rates.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"

namespace sgd::measure {

struct DeviceKind {
  uint64_t memory_bytes = 0;      // of a rank
  std::string architecture = {};  // of a GPU, "sm_90"; empty: a CPU

  bool is_gpu() const { return !architecture.empty(); }
};

// All ranks call it, each with what it has: the least memory. FailedPrecondition, the same on all, where they have
// different architectures: a topology has devices of one kind.
absl::StatusOr<DeviceKind> AgreeOnKind(const DeviceKind& mine, comm::Control& control, absl::Duration timeout);

}  // namespace sgd::measure
