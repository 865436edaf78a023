// Which cores a rank gets whose device is nearer to some than to others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::launch {

// Where a rank runs, as all ranks know of each other.
struct RankPlace {
  std::string host;
  std::vector<int> cores;  // that it may use now
  std::vector<int> near;   // that are near its device; empty: unknown

  // One line, and the place that was written so.
  std::string Text() const;
  static absl::StatusOr<RankPlace> Parse(std::string_view text);
};

// This process's: its host's name and the cores of its mask.
RankPlace PlaceOfThisProcess(std::string_view near_cores);

// The cores of `rank`: of those that ranks of its host have between them, its share of the ones near its device, which
// ranks near the same cores divide among themselves in order. Its own ones where too few are near, or none are known.
std::vector<int> ShareOfNearCores(std::span<const RankPlace> ranks, uint32_t rank);

}  // namespace sgd::launch
