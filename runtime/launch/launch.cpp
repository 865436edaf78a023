// Joins the parts: meet, communicator, watcher, the rank's main function.
#include "runtime/launch/launch.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/rank_text.h"
#include "runtime/comm/one_host/shared_memory_communicator.h"
#include "runtime/comm/shared_memory/job_cause.h"
#include "runtime/comm/shared_memory/watcher.h"
#include "runtime/launch/cpu_quota.h"
#include "runtime/launch/own_cores.h"
#include "runtime/launch/prepare_rank.h"
#include "runtime/launch/tcp_launch.h"

namespace sgd::launch {
namespace {

using comm::SharedMemoryCommunicator;
using comm::SharedMemorySegment;
using comm::Watcher;

// The job of ranks that share a segment.
class SegmentJob : public JobHandle {
 public:
  // `is_told`: a supervisor, or nobody beside this rank, tells the user of its end.
  SegmentJob(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank, bool is_told)
      : segment_(std::move(segment)), rank_(rank), is_told_(is_told) {}

  void Abort(const absl::Status& cause) override { segment_->Abort(rank_, cause); }
  absl::Status MessageOf(const absl::Status& cause) override {
    return is_told_ ? cause : comm::JobCause(*segment_, rank_, cause);
  }
  void RequestStop(int signal) override { segment_->RequestStop(signal); }
  bool is_state_kept() const override { return segment_->is_state_kept(); }

 private:
  const std::shared_ptr<SharedMemorySegment> segment_;
  const uint32_t rank_;
  const bool is_told_;
};

absl::Status OfRank(uint32_t rank, const absl::Status& status) {
  if (EndsWell(status)) return status;
  return absl::Status(status.code(), comm::OfRank(rank, std::string(status.message())));
}

absl::Status RunConnected(SharedMemoryCommunicator& communicator, const LaunchOptions& options,
                          const RankMain& rank_main) {
  const KeptCores kept;
  absl::StatusOr<RankContext> context = PrepareRank(communicator, options);
  const absl::Status status = context.ok() ? rank_main(*context) : context.status();
  if (EndsWell(status)) {
    communicator.control().Finish();
  } else {
    communicator.control().Abort(status);
  }
  return status;
}

// Errors have aborted the job.
absl::Status RunOnSegment(const std::shared_ptr<SharedMemorySegment>& segment, uint32_t rank,
                          const LaunchOptions& options, const RankMain& rank_main) {
  auto communicator = SharedMemoryCommunicator::Connect(segment, rank, options.deadline, CoresOfQuota(CpuQuota()));
  if (communicator.ok()) return RunConnected(**communicator, options, rank_main);
  segment->Abort(rank, communicator.status());
  return communicator.status();
}

// Runs `rank_main` over a segment of this process alone, or of ranks that nobody supervises.
absl::Status RunUnsupervised(const std::shared_ptr<SharedMemorySegment>& segment, uint32_t rank,
                             const LaunchOptions& options, const RankMain& rank_main) {
  SegmentJob job(segment, rank, /*is_told=*/segment->ranks() == 1);
  auto watch = options.policy->Enter(job);
  if (!watch.ok()) return watch.status();
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
    auto begun = Meeting::Begin(environment, {options.window_bytes, options.plan}, options.secret, options.deadline,
                                *options.policy);
    if (!begun.ok()) return OfRank(environment.rank, begun.status());
    meeting = *std::move(begun);
  }
  if (!environment.master.has_value()) return RunStartedAlone(environment.rank, options, rank_main, *meeting);
  return OfRank(environment.rank, RunOverTcp(environment, 0, nullptr, options, rank_main, std::move(meeting)));
}

}  // namespace

absl::Status RunRank(const RankEnvironment& environment, const LaunchOptions& options, const RankMain& rank_main,
                     std::unique_ptr<Meeting> meeting) {
  if (environment.size == 1) return RunSingle(options, rank_main);
  return RunAlone(environment, options, rank_main, std::move(meeting));
}

absl::Status RunSupervised(const std::shared_ptr<SharedMemorySegment>& segment, uint32_t rank,
                           const LaunchOptions& options, const RankMain& rank_main) {
  SegmentJob job(segment, rank, /*is_told=*/true);
  auto watch = options.policy->Enter(job);
  if (!watch.ok()) return watch.status();
  auto communicator = SharedMemoryCommunicator::Connect(segment, rank, options.deadline, CoresOfQuota(CpuQuota()));
  if (!communicator.ok()) return communicator.status();
  // The supervisor knows first how a rank died.
  auto watcher =
      Watcher::Start(segment, rank,
                     {.report_delay = absl::Milliseconds(30),
                      .give_up = [policy = options.policy](const absl::Status& cause) { policy->GiveUp(cause); },
                      .where = [policy = options.policy] { return policy->Where(); }});
  if (!watcher.ok()) return watcher.status();
  return RunConnected(**communicator, options, rank_main);
}

}  // namespace sgd::launch
