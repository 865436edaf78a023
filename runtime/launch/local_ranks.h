// Which ranks of a job are on this host, and where they may run; ranks tell each other over a control.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control.h"

namespace sgd::launch {

struct LocalRanks {
  std::vector<uint32_t> ranks;   // in rising order
  std::vector<cpu_set_t> masks;  // where each of them may run
  uint32_t own = 0;              // index of this one
  uint32_t cores = 1;            // how many cores they may use together
};

// All ranks call it. A host is known by its boot and by what containers and network namespaces set apart. `core_limit`
// bounds the cores whose time this rank may use.
absl::StatusOr<LocalRanks> FindLocalRanks(comm::Control& control, uint32_t core_limit, absl::Duration timeout);

}  // namespace sgd::launch
