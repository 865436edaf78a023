// Joins the parts: who am I, supervise or meet, communicator, watcher, the rank's main function.
#include "runtime/launch/launch.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/comm/rendezvous.h"
#include "runtime/comm/shared_memory_communicator.h"
#include "runtime/comm/watcher.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/cpu_quota.h"
#include "runtime/launch/supervisor.h"

namespace sgd::launch {
namespace {

using comm::SharedMemoryCommunicator;
using comm::SharedMemorySegment;
using comm::Watcher;
using comm::WatcherOptions;

// Under a supervisor the watcher is the second line: the supervisor knows first how a rank died,
// reports and kills.
WatcherOptions UnderSupervisor() {
  WatcherOptions options;
  options.report_delay = absl::Milliseconds(30);
  options.give_up = [](const absl::Status&) { _exit(1); };
  return options;
}

uint32_t CoreLimit() { return CoresOfQuota(CpuQuota()); }

bool Intersect(const cpu_set_t& a, const cpu_set_t& b) {
  cpu_set_t both;
  CPU_AND(&both, &a, &b);
  return CPU_COUNT(&both) > 0;
}

// The cores that this rank has for itself, bound to them: those of its mask when no other rank's
// has them; a part when all ranks were started with the same mask, as by torchrun; else none.
std::vector<int> TakeOwnCores(const SharedMemoryCommunicator& communicator) {
  const cpu_set_t& mine = communicator.CpusOf(communicator.rank());
  bool is_alone = true, are_equal = true;
  for (uint32_t rank = 0; rank < communicator.size(); ++rank) {
    if (rank == communicator.rank()) continue;
    is_alone = is_alone && !Intersect(mine, communicator.CpusOf(rank));
    are_equal = are_equal && CPU_EQUAL(&mine, &communicator.CpusOf(rank));
  }
  if (!is_alone && !are_equal) return {};
  const std::vector<std::vector<int>> parts = AssignCores(AllowedCores(), is_alone ? 1 : communicator.size());
  if (parts.empty()) return {};
  const std::vector<int>& own = parts[is_alone ? 0 : communicator.rank()];
  if (!is_alone) BindToCores(own);
  return own;
}

// Ranks without a thread arrive at collectives in another order than those with one, so all must
// decide alike.
absl::Status StartCommThread(SharedMemoryCommunicator& communicator, const LaunchOptions& options, bool has_own_core) {
  if (communicator.size() == 1) return absl::OkStatus();
  const char mine[] = {static_cast<char>(options.comm_thread), static_cast<char>(has_own_core)};
  absl::StatusOr<std::vector<std::string>> all =
      communicator.AllGatherBytes(std::string_view(mine, sizeof(mine)), options.deadline);
  if (!all.ok()) return all.status();
  bool all_have = true;
  for (size_t rank = 0; rank < all->size(); ++rank) {
    if ((*all)[rank][0] != mine[0]) {
      return absl::FailedPreconditionError(
          absl::StrCat("rank ", rank, " was started with another choice of a communication thread (--comm-thread)"));
    }
    all_have = all_have && (*all)[rank][1] != 0;
  }
  if (options.comm_thread == CommThread::kOn || (options.comm_thread == CommThread::kAuto && all_have)) {
    communicator.StartThread(all_have);
  }
  return absl::OkStatus();
}

absl::Status RunConnected(SharedMemoryCommunicator& communicator, const LaunchOptions& options,
                          const RankMain& rank_main) {
  RankContext context;
  context.rank = communicator.rank();
  context.size = communicator.size();
  context.threads =
      options.threads != 0 ? options.threads : std::max<uint32_t>(1, communicator.cores() / communicator.size());
  context.communicator = &communicator;
  context.cores = TakeOwnCores(communicator);
  context.shares_cores =
      context.cores.size() < context.threads || communicator.cores() < uint64_t{context.threads} * communicator.size();
  const bool has_spare_core = context.cores.size() > context.threads &&
                              communicator.cores() >= (uint64_t{context.threads} + 1) * communicator.size();
  if (context.cores.size() != context.threads) context.cores.clear();
  absl::Status status = StartCommThread(communicator, options, has_spare_core);
  if (status.ok()) status = rank_main(context);
  if (status.ok()) {
    communicator.Finish();
  } else {
    communicator.Abort(status);
  }
  return status;
}

absl::Status RunUnderSupervisor(uint32_t rank, const std::shared_ptr<SharedMemorySegment>& segment,
                                const LaunchOptions& options, const RankMain& rank_main) {
  auto communicator = SharedMemoryCommunicator::Connect(segment, rank, options.deadline, CoreLimit());
  if (!communicator.ok()) return communicator.status();
  auto watcher = Watcher::Start(segment, rank, UnderSupervisor());
  if (!watcher.ok()) return watcher.status();
  return RunConnected(**communicator, options, rank_main);
}

// The watcher comes first: from the meeting on, nobody else would notice a death.
absl::Status RunStartedAlone(const RankEnvironment& environment, const LaunchOptions& options,
                             const RankMain& rank_main) {
  comm::RendezvousOptions meeting;
  meeting.name = environment.rendezvous;
  meeting.rank = environment.rank;
  meeting.size = environment.size;
  meeting.window_bytes = options.window_bytes;
  meeting.timeout = options.deadline;
  auto segment = comm::Rendezvous(meeting);
  if (!segment.ok()) return segment.status();
  auto watcher = Watcher::Start(*segment, environment.rank, WatcherOptions());
  if (!watcher.ok()) {
    (*segment)->Abort(environment.rank, watcher.status());
    return watcher.status();
  }
  auto communicator = SharedMemoryCommunicator::Connect(*segment, environment.rank, options.deadline, CoreLimit());
  if (!communicator.ok()) {
    (*segment)->Abort(environment.rank, communicator.status());
    return communicator.status();
  }
  return RunConnected(**communicator, options, rank_main);
}

absl::Status RunSingle(const LaunchOptions& options, const RankMain& rank_main) {
  auto segment = SharedMemorySegment::Create(1, options.window_bytes);
  if (!segment.ok()) return segment.status();
  auto communicator = SharedMemoryCommunicator::Connect(*segment, 0, options.deadline, CoreLimit());
  if (!communicator.ok()) return communicator.status();
  return RunConnected(**communicator, options, rank_main);
}

}  // namespace

absl::Status Launch(const RankEnvironment& environment, const LaunchOptions& options, const RankMain& rank_main) {
  if (environment.size == 1) return RunSingle(options, rank_main);
  if (!environment.is_launcher) {
    const absl::Status status = RunStartedAlone(environment, options, rank_main);
    if (status.ok()) return status;
    return absl::Status(status.code(), absl::StrCat("rank ", environment.rank, ": ", status.message()));
  }
  SupervisorOptions supervisor;
  supervisor.ranks = environment.size;
  supervisor.window_bytes = options.window_bytes;
  supervisor.deadline = options.deadline;
  return Supervise(supervisor, [&](uint32_t rank, const std::shared_ptr<SharedMemorySegment>& segment) {
    return RunUnderSupervisor(rank, segment, options, rank_main);
  });
}

}  // namespace sgd::launch
