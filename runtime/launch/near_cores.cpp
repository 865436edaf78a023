// Sets of numbers.
#include "runtime/launch/near_cores.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/launch/core_assignment.h"

namespace sgd::launch {

std::string RankPlace::Text() const {
  return absl::StrCat(host, "\n", absl::StrJoin(cores, ","), "\n", absl::StrJoin(near, ","));
}

absl::StatusOr<RankPlace> RankPlace::Parse(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), '\n');
  if (parts.size() != 3) return absl::InvalidArgumentError("a rank did not say where it runs");
  return RankPlace{parts[0], ParseCoreList(parts[1]), ParseCoreList(parts[2])};
}

RankPlace PlaceOfThisProcess(std::string_view near_cores) {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  RankPlace place{host, {}, ParseCoreList(near_cores)};
  for (const Core& core : AllowedCores()) place.cores.push_back(core.id);
  std::ranges::sort(place.cores);
  return place;
}

std::vector<int> ShareOfNearCores(std::span<const RankPlace> ranks, uint32_t rank) {
  const RankPlace& mine = ranks[rank];
  std::set<int> allowed;
  size_t sharers = 0, position = 0;
  for (size_t other = 0; other < ranks.size(); ++other) {
    if (ranks[other].host != mine.host) continue;
    allowed.insert(ranks[other].cores.begin(), ranks[other].cores.end());
    if (ranks[other].near != mine.near) continue;
    if (other < rank) ++position;
    ++sharers;
  }
  std::vector<int> near;
  for (int core : mine.near) {
    if (allowed.contains(core)) near.push_back(core);
  }
  std::ranges::sort(near);
  near.erase(std::unique(near.begin(), near.end()), near.end());
  if (near.size() < sharers) return mine.cores;
  const auto at = [&](size_t share) {
    return near.begin() + static_cast<std::ptrdiff_t>(near.size() * share / sharers);
  };
  return {at(position), at(position + 1)};
}

}  // namespace sgd::launch
