// Pools stay until the client ends: eager programs come and go.
#include "plugins/pjrt/rank_pools.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/container.h"

namespace sgd::pjrt {

absl::StatusOr<embed::RankPool*> RankPools::Of(uint32_t ranks) {
  std::unique_ptr<embed::RankPool>& pool = pools_[ranks];
  if (pool == nullptr) {
    auto started = embed::RankPool::Start(ranks, {});
    if (!started.ok()) return started.status();
    pool = *std::move(started);
  }
  return pool.get();
}

absl::StatusOr<ProcessRanks*> RankPools::OfProcesses(const DeviceList& devices) {
  if (std::ranges::all_of(devices.processes, [&](uint32_t process) { return process == this->process(); }))
    return nullptr;
  std::unique_ptr<ProcessRanks>& ranks = spread_[devices.ids];
  if (ranks == nullptr) {
    const std::string ids = absl::StrJoin(devices.ids, ",");
    absl::StatusOr<artifact::Hash> hash = artifact::Sha256({reinterpret_cast<const uint8_t*>(ids.data()), ids.size()});
    if (!hash.ok()) return hash.status();
    auto created =
        ProcessRanks::Create(processes_, devices.processes, absl::StrCat("devices/", artifact::HexHash(*hash)));
    if (!created.ok()) return created.status();
    ranks = *std::move(created);
  }
  return ranks.get();
}

}  // namespace sgd::pjrt
