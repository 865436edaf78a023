// One rank of a job on several hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"
#include "runtime/launch/launch.h"

namespace sgd::launch {

// Meets the other ranks where the environment says, runs `rank_main` and sees to it that all ranks end together. Under
// a supervisor, `segment` is what it shares with the ranks that it has started, this one being `local_rank` of them;
// else it is null. `meeting` is null or
// has begun.
absl::Status RunOverTcp(const RankEnvironment& environment, uint32_t local_rank,
                        const std::shared_ptr<comm::SharedMemorySegment>& segment, const LaunchOptions& options,
                        const RankMain& rank_main, std::unique_ptr<Meeting> meeting = nullptr);

// Tells the ranks of other hosts that `rank`, which this process has or was to have started, has ended before it met
// them. As comm::ReportDeath; takes at most about a second.
bool ReportDeathOverTcp(const RankEnvironment& environment, uint32_t rank, const std::string& secret,
                        const absl::Status& cause);

}  // namespace sgd::launch
