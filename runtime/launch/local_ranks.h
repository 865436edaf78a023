// Which ranks of a job are on this host, and where they may run; ranks tell each other over a control.
#pragma once

#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"

namespace sgd::launch {

// The claim of a rank towards the other ranks of its host.
struct LocalClaim {
  uint32_t core_limit = 1;              // bounds the cores whose time it may use
  std::vector<std::string> interfaces;  // of this host, that it has reached ranks of other hosts through
  bool has_segment = false;             // that it shares with ranks of its launcher
};

struct LocalRanks {
  std::vector<uint32_t> ranks;          // in rising order
  std::vector<cpu_set_t> masks;         // where each of them may run
  uint32_t own = 0;                     // index of this one
  uint32_t cores = 1;                   // how many cores they may use together
  std::vector<std::string> interfaces;  // that they have reached other hosts through
  std::vector<uint32_t> alone;          // of the ranks, those without a segment
  std::string name;                     // drawn by the first of these, so that no other job has it
};

// All ranks call it. A host is known by its boot and by what containers and network namespaces set apart.
absl::StatusOr<LocalRanks> FindLocalRanks(comm::Control& control, const LocalClaim& claim, absl::Duration timeout);

}  // namespace sgd::launch
