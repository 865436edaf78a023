// Joins the parts: who am I, supervise or meet, communicator, watcher, the rank's main function.
#include "runtime/launch/launch.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/comm/job_cause.h"
#include "runtime/comm/leave.h"
#include "runtime/comm/rank_text.h"
#include "runtime/comm/shared_memory_communicator.h"
#include "runtime/comm/watcher.h"
#include "runtime/launch/cpu_quota.h"
#include "runtime/launch/own_cores.h"
#include "runtime/launch/signal_thread.h"
#include "runtime/launch/supervisor.h"
#include "runtime/launch/tcp_launch.h"

namespace sgd::launch {
namespace {

using comm::SharedMemoryCommunicator;
using comm::SharedMemoryControl;
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

absl::Status OfRank(uint32_t rank, const absl::Status& status) {
  if (EndsWell(status)) return status;
  return absl::Status(status.code(), comm::OfRank(rank, std::string(status.message())));
}

uint32_t CoreLimit() { return CoresOfQuota(CpuQuota()); }

absl::Status RunConnected(SharedMemoryCommunicator& communicator, const LaunchOptions& options,
                          const RankMain& rank_main) {
  SharedMemoryControl& control = communicator.control();
  RankContext context;
  context.rank = control.rank();
  context.size = control.size();
  context.threads = options.threads != 0 ? options.threads : std::max<uint32_t>(1, control.cores() / control.size());
  context.local_rank = context.rank;
  context.local_size = context.size;
  context.control = &control;
  context.communicator = &communicator;
  std::vector<cpu_set_t> masks;
  for (uint32_t rank = 0; rank < control.size(); ++rank) masks.push_back(control.CpusOf(rank));
  context.cores = TakeOwnCores(masks, control.rank());
  context.shares_cores =
      context.cores.size() < context.threads || control.cores() < uint64_t{context.threads} * control.size();
  const bool has_spare_core =
      context.cores.size() > context.threads && control.cores() >= (uint64_t{context.threads} + 1) * control.size();
  if (context.cores.size() != context.threads) context.cores.clear();
  absl::StatusOr<CommThreadChoice> thread =
      AgreeOnCommThread(control, options.comm_thread, has_spare_core, options.deadline);
  if (thread.ok() && thread->starts) {
    if (absl::Status started = communicator.StartThread(thread->has_own_core); !started.ok()) thread = started;
  }
  const absl::Status status = thread.ok() ? rank_main(context) : thread.status();
  if (EndsWell(status)) {
    control.Finish();
  } else {
    control.Abort(status);
  }
  return status;
}

absl::Status RunUnderSupervisor(uint32_t rank, const std::shared_ptr<SharedMemorySegment>& segment,
                                const LaunchOptions& options, const RankMain& rank_main) {
  // The supervisor says what has happened, and cleans up.
  const comm::LeaveAction leave([&](const absl::Status& cause) {
    segment->Abort(rank, cause);
    _exit(1);
  });
  auto signals = TakeSignals({.stops = options.stops_between_steps,
                              .request_stop = [&](int signal) { segment->RequestStop(signal); },
                              .is_state_kept = [&] { return segment->is_state_kept(); }});
  if (!signals.ok()) return signals.status();
  auto communicator = SharedMemoryCommunicator::Connect(segment, rank, options.deadline, CoreLimit());
  if (!communicator.ok()) return communicator.status();
  auto watcher = Watcher::Start(segment, rank, UnderSupervisor());
  if (!watcher.ok()) return watcher.status();
  return RunConnected(**communicator, options, rank_main);
}

// Errors have aborted the job.
absl::Status RunOnSegment(const std::shared_ptr<SharedMemorySegment>& segment, uint32_t rank,
                          const LaunchOptions& options, const RankMain& rank_main) {
  auto communicator = SharedMemoryCommunicator::Connect(segment, rank, options.deadline, CoreLimit());
  if (communicator.ok()) return RunConnected(**communicator, options, rank_main);
  segment->Abort(rank, communicator.status());
  return communicator.status();
}

// Runs `rank_main` over a segment of this process alone, or of ranks that nobody supervises.
absl::Status RunUnsupervised(const std::shared_ptr<SharedMemorySegment>& segment, uint32_t rank,
                             const LaunchOptions& options, const RankMain& rank_main) {
  const comm::LeaveAction leave([&](const absl::Status& cause) {
    segment->Abort(rank, cause);
    if (options.clean_up) options.clean_up();
    comm::PrintAndExit(segment->ranks() == 1 ? cause : comm::JobCause(*segment, rank, cause));
  });
  auto signals = TakeSignals({.stops = options.stops_between_steps,
                              .request_stop = [&](int signal) { segment->RequestStop(signal); },
                              .is_state_kept = [&] { return segment->is_state_kept(); }});
  if (!signals.ok()) return signals.status();
  absl::Status status = RunOnSegment(segment, rank, options, rank_main);
  if (EndsWell(status) || segment->ranks() == 1) return status;
  return comm::JobCause(*segment, rank, status);
}

// The watcher comes first: from the meeting on, nobody else would notice a death.
absl::Status RunStartedAlone(uint32_t rank, const LaunchOptions& options, const RankMain& rank_main, Meeting& meeting) {
  absl::StatusOr<Meeting::OnHost> met = meeting.WaitOnHost();
  if (!met.ok()) return OfRank(rank, met.status());
  return RunUnsupervised(met->segment, rank, options, rank_main);
}

absl::Status RunSingle(const LaunchOptions& options, const RankMain& rank_main) {
  auto segment = SharedMemorySegment::Create(1, options.window_bytes);
  if (!segment.ok()) return segment.status();
  return RunUnsupervised(*segment, 0, options, rank_main);
}

absl::Status RunAlone(const RankEnvironment& environment, const LaunchOptions& options, const RankMain& rank_main,
                      std::unique_ptr<Meeting> meeting) {
  if (meeting == nullptr) {
    auto begun = Meeting::Begin(environment, options.window_bytes, options.secret, options.deadline);
    if (!begun.ok()) return OfRank(environment.rank, begun.status());
    meeting = *std::move(begun);
  }
  if (!environment.master.has_value()) return RunStartedAlone(environment.rank, options, rank_main, *meeting);
  return OfRank(environment.rank, RunOverTcp(environment, 0, nullptr, options, rank_main, std::move(meeting)));
}

}  // namespace

absl::Status Launch(const RankEnvironment& environment, const LaunchOptions& options, const RankMain& rank_main,
                    std::unique_ptr<Meeting> meeting) {
  if (environment.size == 1) return RunSingle(options, rank_main);
  if (!environment.is_launcher) {
    return RunAlone(environment, options, rank_main, std::move(meeting));
  }
  SupervisorOptions supervisor;
  supervisor.ranks = environment.StartedHere();
  supervisor.first_rank = environment.rank;
  supervisor.window_bytes = options.window_bytes;
  supervisor.deadline = options.deadline;
  supervisor.stops_between_steps = options.stops_between_steps;
  if (environment.nodes > 1 && environment.master.has_value()) {
    supervisor.report_death = [&](uint32_t rank, const absl::Status& cause) {
      return ReportDeathOverTcp(environment, rank, options.secret, cause);
    };
  }
  const absl::Status status =
      Supervise(supervisor, [&](uint32_t local_rank, const std::shared_ptr<SharedMemorySegment>& segment) {
        if (environment.master.has_value()) return RunOverTcp(environment, local_rank, segment, options, rank_main);
        return RunUnderSupervisor(local_rank, segment, options, rank_main);
      });
  if (!EndsWell(status) && options.clean_up) options.clean_up();
  return status;
}

}  // namespace sgd::launch
