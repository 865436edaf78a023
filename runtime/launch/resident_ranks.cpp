// Each run is one function for every thread; whoever calls it collects the outcomes and keeps the time.
#include "runtime/launch/resident_ranks.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/prepare_rank.h"
#include "runtime/launch/resident_run.h"
#include "runtime/launch/tcp_rank.h"

namespace sgd::launch {
namespace {

using comm::SharedMemorySegment;

// How often a waiter, for ranks or for its turn, checks whether another thread has ended the job.
constexpr std::chrono::milliseconds kLook(20);

// Runs a rank's function, whose failure ends the job.
absl::Status RunBody(SharedMemorySegment& segment, const RankThread::Body& body, uint32_t rank) {
  absl::Status status = body();
  if (!EndsWell(status)) segment.Abort(rank, status);
  return status;
}

// In a job of this process alone.
class LocalMember final : public Membership {
 public:
  explicit LocalMember(JoinedRank joined) : joined_(std::move(joined)) {}
  RankContext& context() override { return joined_.context; }
  void EndRun() override { joined_.communicator->control().Finish(); }
  void Leave() override {}

 private:
  JoinedRank joined_;
};

}  // namespace

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
  if (is_on_caller()) return absl::OkStatus();
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

RunOutcomes ResidentRanks::RunOnAll(const std::shared_ptr<SharedMemorySegment>& segment,
                                    const std::function<RankThread::Body(uint32_t rank)>& body_of) {
  if (is_on_caller() && !options_.single_takes_turns) return {RunBody(*segment, body_of(0), 0)};
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock_for(kLook)) {
    if (segment->aborted()) return RunOutcomes(size(), segment->abort_cause());
  }
  if (is_on_caller()) return {RunBody(*segment, body_of(0), 0)};
  if (absl::Status status = StartThreads(); !status.ok()) {
    segment->Abort(SharedMemorySegment::kNoRank, status);
    return RunOutcomes(size(), status);
  }
  const auto outcomes = std::make_shared<Outcomes>(size());
  for (uint32_t rank = 0; rank < size(); ++rank) {
    threads_[rank]->Run([segment, body = body_of(rank), rank] { return RunBody(*segment, body, rank); },
                        [outcomes, rank](absl::Status outcome) { outcomes->Add(rank, std::move(outcome)); });
  }
  return WaitForAll(*segment, *outcomes);
}

RunOutcomes ResidentRanks::WaitForAll(SharedMemorySegment& segment, Outcomes& outcomes) {
  RunOutcomes result = outcomes.Wait(segment, options_);
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (result[rank].has_value()) continue;
    const std::lock_guard lost_lock(lost_mutex_);
    lost_.push_back(std::move(threads_[rank]));
  }
  return result;
}

LaunchOptions ResidentRanks::OptionsOf(uint64_t window_bytes) const {
  LaunchOptions options;
  options.window_bytes = window_bytes;
  options.deadline = options_.deadline;
  options.threads = options_.threads;
  options.comm_thread = options_.comm_thread;
  options.policy = options_.policy;
  return options;
}

absl::StatusOr<std::unique_ptr<ResidentJob>> ResidentRanks::Open(uint64_t window_bytes) {
  auto made = SharedMemorySegment::Create(size(), window_bytes);
  if (!made.ok()) return made.status();
  const std::shared_ptr<SharedMemorySegment> segment = *std::move(made);
  std::unique_ptr<ResidentJob> job(new ResidentJob(*this, segment, /*is_spread=*/false));
  const auto join = [segment,
                     options = OptionsOf(window_bytes)](uint32_t rank) -> absl::StatusOr<std::unique_ptr<Membership>> {
    absl::StatusOr<JoinedRank> joined = JoinRank(segment, rank, options);
    if (!joined.ok()) return joined.status();
    return std::make_unique<LocalMember>(*std::move(joined));
  };
  if (absl::Status status = job->Connect(join); !status.ok()) return status;
  return job;
}

absl::StatusOr<std::unique_ptr<ResidentJob>> ResidentRanks::OpenSpread(uint64_t window_bytes, const SpreadJob& spread) {
  if (spread.ranks.size() != size())
    return absl::InvalidArgumentError(
        absl::StrCat("a job with ", spread.ranks.size(), " ranks in this process, which has ", size()));
  // Tells the ranks of this process of the job's end; tensors are in memory that all ranks of this host share.
  auto made = SharedMemorySegment::Create(size(), 0);
  if (!made.ok()) return made.status();
  const std::shared_ptr<SharedMemorySegment> segment = *std::move(made);
  std::unique_ptr<ResidentJob> job(new ResidentJob(*this, segment, /*is_spread=*/true));
  // Without windows these ranks would have no communicator.
  LaunchOptions options = OptionsOf(std::max<uint64_t>(window_bytes, 1));
  options.deadline = spread.deadline;
  options.secret = spread.secret;
  if (options.policy == nullptr) options.policy = &returns_;
  const auto join = [segment, options, spread](uint32_t index) -> absl::StatusOr<std::unique_ptr<Membership>> {
    TcpRankOptions rank;
    rank.environment.rank = spread.ranks[index];
    rank.environment.size = spread.size;
    rank.environment.master = spread.place;
    rank.acceptor = spread.ranks[index] == 0 ? spread.acceptor : nullptr;
    rank.own_failure = [segment, &spread] {
      const absl::Status cause = segment->abort_cause();
      return cause.ok() && spread.own_failure ? spread.own_failure() : cause;
    };
    rank.on_abort = [segment](uint32_t at_fault, const absl::Status& cause) { segment->Abort(at_fault, cause); };
    absl::StatusOr<std::unique_ptr<TcpRank>> met = TcpRank::Meet(std::move(rank), options);
    if (!met.ok()) return met.status();
    if (absl::Status status = (*met)->Prepare(); !status.ok()) {
      (*met)->control().Abort(status);
      return status;
    }
    return std::move(*met);
  };
  if (absl::Status status = job->Connect(join); !status.ok()) return status;
  return job;
}

ResidentJob::ResidentJob(ResidentRanks& ranks, std::shared_ptr<SharedMemorySegment> segment, bool is_spread)
    : ranks_(ranks), segment_(std::move(segment)), is_spread_(is_spread) {
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank)
    members_.push_back(std::make_shared<std::unique_ptr<Membership>>());
}

ResidentJob::~ResidentJob() {
  for (const auto& member : members_) {
    if (*member != nullptr && status().ok()) (*member)->Leave();
  }
}

absl::Status ResidentJob::Connect(const Join& join) {
  return RunOnRanks([join](uint32_t rank, std::unique_ptr<Membership>& member) {
    absl::StatusOr<std::unique_ptr<Membership>> joined = join(rank);
    if (!joined.ok()) return joined.status();
    (*joined)->context().resident = rank;
    member = *std::move(joined);
    return absl::OkStatus();
  });
}

absl::Status ResidentJob::Run(const RankMain& rank_main) {
  if (absl::Status status = BeginRun(*segment_); !status.ok()) return status;
  return RunOnRanks(
      [rank_main](uint32_t, std::unique_ptr<Membership>& member) { return rank_main(member->context()); });
}

absl::Status ResidentJob::RunOnRanks(
    const std::function<absl::Status(uint32_t rank, std::unique_ptr<Membership>& member)>& body) {
  RunOutcomes outcomes = ranks_.RunOnAll(segment_, [&](uint32_t rank) {
    return [member = members_[rank], body, rank] {  // the communicator outlives what the body keeps
      absl::Status status = body(rank, *member);
      if (*member == nullptr) return status;
      if (EndsWell(status)) {
        (*member)->EndRun();
      } else {
        (*member)->context().control->Abort(status);
      }
      return status;
    };
  });
  outcomes_.clear();
  lost_.clear();
  for (uint32_t rank = 0; rank < outcomes.size(); ++rank) {
    if (!outcomes[rank].has_value()) lost_.push_back(rank);
    outcomes_.push_back(outcomes[rank].has_value() ? *std::move(outcomes[rank])
                                                   : LostError(rank, ranks_.options_.grace));
  }
  if (const absl::Status cause = segment_->abort_cause(); !cause.ok()) TellOthers(cause);
  return OutcomeOfRun(*segment_, outcomes_);
}

void ResidentJob::Abort(const absl::Status& cause) {
  segment_->Abort(SharedMemorySegment::kNoRank, cause);
  TellOthers(cause);
}

void ResidentJob::TellOthers(const absl::Status& cause) {
  // One rank's control tells all, and has no effect where the job has ended there too.
  if (is_spread_ && !members_.empty() && *members_[0] != nullptr) (*members_[0])->context().control->Abort(cause);
}

}  // namespace sgd::launch
