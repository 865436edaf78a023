// Which ranks share memory: found when ranks meet, never known to an artifact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"

namespace sgd::comm {

struct Placement {
  std::vector<uint32_t> host_of;                // by rank; hosts are numbered by their first rank
  std::vector<uint32_t> index_of;               // by rank: its place among those of its host
  std::vector<std::vector<uint32_t>> ranks_of;  // by host, in rising order
  std::vector<std::string> names;               // of hosts, for messages

  uint32_t hosts() const { return static_cast<uint32_t>(ranks_of.size()); }
  // "rank 2 (host b)"
  std::string Describe(uint32_t rank) const;
};

// `keys` and `names` by rank: ranks with equal keys share memory.
Placement MakePlacement(const std::vector<std::string>& keys, const std::vector<std::string>& names);

// All ranks call it; `key` is what those that share memory with this one say too, and nobody else.
absl::StatusOr<Placement> AgreeOnPlacement(Control& control, std::string_view key, absl::Duration timeout);

}  // namespace sgd::comm
