// Pools stay until the client ends: eager programs come and go.
#include "plugins/pjrt/rank_pools.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/container.h"

namespace sgd::pjrt {

RankPools::RankPools(Target target, std::shared_ptr<const Processes> processes, absl::Duration deadline)
    : deadline(deadline), target_(std::move(target)), processes_(std::move(processes)) {
  if (target_.is_host_memory()) return;
  for (uint32_t device = 0; device < target_.devices; ++device) gpus_.push_back(std::make_unique<GpuMemory>());
}

RankPools::~RankPools() {
  for (uint32_t device = 0; device < gpus_.size(); ++device) {
    if (!gpus_[device]->has_free_blocks()) continue;
    if (absl::StatusOr<embed::RankPool*> pool = Of({device}); pool.ok()) gpus_[device]->Clear(**pool);
  }
}

absl::StatusOr<embed::RankPool*> RankPools::Of(std::vector<uint32_t> devices) {
  // CPU devices are shares of the same cores: which ones they are makes no difference.
  if (target_.is_host_memory()) std::iota(devices.begin(), devices.end(), 0);
  std::unique_ptr<embed::RankPool>& pool = pools_[devices];
  if (pool == nullptr) {
    embed::RankPoolOptions options;
    options.target = target_.name;
    options.timeout = deadline;
    // Functions that a program calls run others; RunningPrograms keeps them apart.
    options.single_takes_turns = false;
    if (!target_.is_host_memory()) options.gpus = devices;
    auto started = embed::RankPool::Start(static_cast<uint32_t>(devices.size()), options);
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

absl::Status RankPools::Read(uint32_t device, const std::byte* source, std::span<std::byte> target) {
  absl::StatusOr<embed::RankPool*> pool = Of({device});
  if (!pool.ok()) return pool.status();
  return gpus_[device]->Read(**pool, source, target);
}

}  // namespace sgd::pjrt
