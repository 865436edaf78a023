// Each run is one function for every thread; whoever calls it collects the outcomes and keeps the time.
#include "runtime/launch/resident_ranks.h"

#include <chrono>
#include <condition_variable>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/resident_run.h"

namespace sgd::launch {
namespace {

using comm::SharedMemorySegment;

// How often a waiter checks whether a thread beside the ranks has ended the job.
constexpr std::chrono::milliseconds kLook(20);

// The outcomes of one run. Lost functions share it.
class Outcomes {
 public:
  explicit Outcomes(uint32_t ranks) : outcomes_(ranks) {}

  void Add(uint32_t rank, absl::Status outcome) {
    {
      const std::lock_guard lock(mutex_);
      outcomes_[rank] = std::move(outcome);
    }
    returned_.notify_one();
  }

  // Until all have returned, or the grace is over. Nothing for ranks that have not returned.
  RunOutcomes Wait(SharedMemorySegment& segment, const ResidentOptions& options) {
    std::unique_lock lock(mutex_);
    RunLimits limits(segment, options.deadline, options.grace);
    while (limits.ShouldWait(outcomes_)) returned_.wait_for(lock, kLook);
    // Those of lost functions come later.
    return std::exchange(outcomes_, RunOutcomes(outcomes_.size()));
  }

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  RunOutcomes outcomes_;
};

}  // namespace

ResidentRanks::ResidentRanks(uint32_t ranks, const ResidentOptions& options)
    : options_(options), cores_(AssignCores(AllowedCores(), ranks)), threads_(ranks) {
  cores_.resize(ranks);
}

ResidentRanks::~ResidentRanks() = default;

absl::StatusOr<std::unique_ptr<ResidentRanks>> ResidentRanks::Start(uint32_t ranks, const ResidentOptions& options) {
  if (ranks == 0 || ranks > SharedMemorySegment::kMaxRanks)
    return absl::InvalidArgumentError(
        absl::StrCat(ranks, " resident ranks; supported are 1 to ", SharedMemorySegment::kMaxRanks));
  std::unique_ptr<ResidentRanks> self(new ResidentRanks(ranks, options));
  if (absl::Status status = self->StartThreads(); !status.ok()) return status;
  return self;
}

absl::Status ResidentRanks::StartThreads() {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (threads_[rank] != nullptr) continue;
    absl::StatusOr<std::unique_ptr<RankThread>> thread = RankThread::Start(rank, cores_[rank]);
    if (!thread.ok()) return thread.status();
    threads_[rank] = *std::move(thread);
  }
  return absl::OkStatus();
}

size_t ResidentRanks::lost() {
  const std::lock_guard lock(lost_mutex_);
  std::erase_if(lost_, [](const std::unique_ptr<RankThread>& thread) { return thread->is_idle(); });
  return lost_.size();
}

std::vector<absl::Status> ResidentRanks::RunOnAll(const std::shared_ptr<SharedMemorySegment>& segment,
                                                  const std::function<RankThread::Body(uint32_t rank)>& body_of) {
  const std::lock_guard lock(mutex_);
  if (absl::Status status = StartThreads(); !status.ok()) {
    segment->Abort(SharedMemorySegment::kNoRank, status);
    return std::vector<absl::Status>(size(), status);
  }
  const auto outcomes = std::make_shared<Outcomes>(size());
  for (uint32_t rank = 0; rank < size(); ++rank) {
    threads_[rank]->Run(
        [segment, body = body_of(rank), rank] {
          absl::Status status = body();
          if (!EndsWell(status)) segment->Abort(rank, status);
          return status;
        },
        [outcomes, rank](absl::Status outcome) { outcomes->Add(rank, std::move(outcome)); });
  }
  std::vector<absl::Status> result;
  for (std::optional<absl::Status>& outcome : outcomes->Wait(*segment, options_)) {
    const auto rank = static_cast<uint32_t>(result.size());
    const bool is_lost = !outcome.has_value();
    result.push_back(is_lost ? LostError(rank, options_.grace) : *std::move(outcome));
    if (!is_lost) continue;
    const std::lock_guard lost_lock(lost_mutex_);
    lost_.push_back(std::move(threads_[rank]));
  }
  return result;
}

absl::StatusOr<std::unique_ptr<ResidentJob>> ResidentRanks::Open(uint64_t window_bytes) {
  auto segment = SharedMemorySegment::Create(size(), window_bytes);
  if (!segment.ok()) return segment.status();
  std::unique_ptr<ResidentJob> job(new ResidentJob(*this, *std::move(segment)));
  if (absl::Status status = job->Connect(); !status.ok()) return status;
  return job;
}

ResidentJob::ResidentJob(ResidentRanks& ranks, std::shared_ptr<SharedMemorySegment> segment)
    : ranks_(ranks), segment_(std::move(segment)) {
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank) joined_.push_back(std::make_shared<JoinedRank>());
}

ResidentJob::~ResidentJob() = default;

absl::Status ResidentJob::Connect() {
  const ResidentOptions& resident = ranks_.options_;
  LaunchOptions options;
  options.deadline = resident.deadline;
  options.threads = resident.threads;
  options.comm_thread = resident.comm_thread;
  options.policy = resident.policy;
  return RunOnRanks([segment = segment_, options](uint32_t rank, JoinedRank& joined) {
    absl::StatusOr<JoinedRank> self = JoinRank(segment, rank, options);
    if (self.ok()) joined = *std::move(self);
    return self.status();
  });
}

absl::Status ResidentJob::Run(const RankMain& rank_main) {
  if (absl::Status status = BeginRun(*segment_); !status.ok()) return status;
  return RunOnRanks([rank_main](uint32_t, JoinedRank& joined) { return rank_main(joined.context); });
}

absl::Status ResidentJob::RunOnRanks(const std::function<absl::Status(uint32_t rank, JoinedRank& joined)>& body) {
  outcomes_ = ranks_.RunOnAll(segment_, [&](uint32_t rank) {
    return [joined = joined_[rank], body, rank] {  // the communicator outlives what the body keeps
      absl::Status status = body(rank, *joined);
      if (EndsWell(status)) joined->communicator->control().Finish();
      return status;
    };
  });
  return OutcomeOfRun(*segment_, outcomes_);
}

}  // namespace sgd::launch
