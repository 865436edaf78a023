// Compares masks, then agrees on the thread.
#include "runtime/launch/prepare_rank.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/launch/cpu_quota.h"
#include "runtime/launch/own_cores.h"

namespace sgd::launch {

absl::StatusOr<RankContext> PrepareRank(comm::SharedMemoryCommunicator& communicator, const LaunchOptions& options) {
  comm::SharedMemoryControl& control = communicator.control();
  RankContext context;
  context.rank = control.rank();
  context.size = control.size();
  context.threads = options.threads != 0 ? options.threads : std::max<uint32_t>(1, control.cores() / control.size());
  context.local_rank = context.rank;
  context.local_size = context.size;
  context.control = &control;
  context.communicator = &communicator;
  context.policy = options.policy;
  std::vector<cpu_set_t> masks;
  for (uint32_t rank = 0; rank < control.size(); ++rank) masks.push_back(control.CpusOf(rank));
  context.cores = TakeOwnCores(masks, control.rank());
  context.shares_cores =
      context.cores.size() < context.threads || control.cores() < uint64_t{context.threads} * control.size();
  const bool has_spare_core =
      context.cores.size() > context.threads && control.cores() >= (uint64_t{context.threads} + 1) * control.size();
  if (context.cores.size() != context.threads) context.cores.clear();
  const absl::StatusOr<CommThreadChoice> thread =
      AgreeOnCommThread(control, options.comm_thread, has_spare_core, options.deadline);
  if (!thread.ok()) return thread.status();
  if (thread->starts) {
    if (absl::Status started = communicator.StartThread(thread->has_own_core); !started.ok()) return started;
  }
  return context;
}

absl::StatusOr<JoinedRank> JoinRank(std::shared_ptr<comm::SharedMemorySegment> segment, uint32_t rank,
                                    const LaunchOptions& options) {
  auto communicator =
      comm::SharedMemoryCommunicator::Connect(std::move(segment), rank, options.deadline, CoresOfQuota(CpuQuota()));
  if (!communicator.ok()) return communicator.status();
  absl::StatusOr<RankContext> context = PrepareRank(**communicator, options);
  if (!context.ok()) return context.status();
  return JoinedRank{*std::move(communicator), *std::move(context)};
}

}  // namespace sgd::launch
