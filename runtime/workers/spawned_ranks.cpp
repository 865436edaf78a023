// A run is one command to every worker. Its caller polls the workers' sockets and pidfds, and keeps the time.
#include "runtime/workers/spawned_ranks.h"

#include <poll.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/build_version.h"
#include "runtime/comm/control/rank_text.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/resident_run.h"

namespace sgd::workers {
namespace {

using comm::SharedMemorySegment;

// How often the caller of a run checks whether another thread has ended the job.
constexpr int kPollMilliseconds = 20;

absl::Status OfRank(uint32_t rank, const absl::Status& status) {
  return absl::Status(status.code(), comm::OfRank(rank, std::string(status.message())));
}

std::vector<cpu_set_t> ShareCores(uint32_t ranks) {
  std::vector<cpu_set_t> shares(ranks);
  for (cpu_set_t& share : shares) CPU_ZERO(&share);
  const std::vector<std::vector<int>> cores = launch::AssignCores(launch::AllowedCores(), ranks);
  for (size_t rank = 0; rank < cores.size(); ++rank)
    for (const int core : cores[rank]) CPU_SET(core, &shares[rank]);
  return shares;
}

}  // namespace

// One command to each worker, and what they answer.
class SpawnedRanks::Exchange {
 public:
  Exchange(SpawnedRanks& ranks, SharedMemorySegment& segment, absl::Duration grace)
      : ranks_(ranks),
        segment_(segment),
        grace_(grace),
        limits_(segment, ranks.options_.deadline, grace),
        outcomes_(ranks.size()) {}

  // For commands that workers answer soon.
  void BeginDeadline() { limits_.BeginDeadline(); }

  void Send(uint32_t rank, const WorkerCommand& command, std::string_view request) {
    const auto& worker = ranks_.workers_[rank];
    if (worker == nullptr) return Add(rank, absl::UnavailableError("has no worker until the next job"));
    const int segment = command.kind == WorkerCommand::Kind::kOpen ? segment_.fd() : -1;
    absl::Status status = SendCommand(worker->socket(), command, request, segment);
    if (!status.ok()) Add(rank, std::move(status));
  }

  std::vector<absl::Status> Wait() {
    while (limits_.ShouldWait(outcomes_)) Poll();
    std::vector<absl::Status> result;
    for (uint32_t rank = 0; rank < outcomes_.size(); ++rank) {
      if (!outcomes_[rank].has_value()) Lose(rank);
      result.push_back(*std::move(outcomes_[rank]));
    }
    return result;
  }

 private:
  void Poll() {
    std::vector<pollfd> ends;
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < outcomes_.size(); ++rank) {
      if (outcomes_[rank].has_value()) continue;
      ranks.push_back(rank);
      ends.push_back({ranks_.workers_[rank]->socket(), POLLIN, 0});
      ends.push_back({ranks_.workers_[rank]->descriptor(), POLLIN, 0});
    }
    if (poll(ends.data(), ends.size(), kPollMilliseconds) <= 0) return;
    for (const uint32_t rank : ranks) Receive(rank);
  }

  void Receive(uint32_t rank) {
    WorkerProcess& worker = *ranks_.workers_[rank];
    // Asked first: an outcome that a worker sent before its death counts.
    const bool has_ended = worker.has_ended();
    absl::StatusOr<std::optional<absl::Status>> received = ReceiveOutcome(worker.socket());
    if (received.ok() && received->has_value()) return Add(rank, **std::move(received));
    if (absl::IsInvalidArgument(received.status())) {
      Fail(rank, received.status());
    } else if (has_ended || !received.ok()) {
      Fail(rank, absl::UnavailableError(worker.End()));
    }
  }

  void Add(uint32_t rank, absl::Status outcome) {
    if (!launch::EndsWell(outcome)) segment_.Abort(rank, outcome);
    outcomes_[rank] = std::move(outcome);
  }

  void Fail(uint32_t rank, const absl::Status& cause) {
    ranks_.Drop(rank, cause);
    Add(rank, OfRank(rank, cause));
  }

  void Lose(uint32_t rank) {
    ranks_.workers_[rank]->Kill();
    Fail(rank, launch::LostError(rank, grace_));
  }

  SpawnedRanks& ranks_;
  SharedMemorySegment& segment_;
  const absl::Duration grace_;
  launch::RunLimits limits_;
  launch::RunOutcomes outcomes_;
};

SpawnedRanks::SpawnedRanks(uint32_t ranks, const SpawnOptions& options)
    : options_(options), cores_(ShareCores(ranks)), workers_(ranks) {}

SpawnedRanks::~SpawnedRanks() {
  // All at once, so that they end side by side.
  for (const auto& worker : workers_)
    if (worker != nullptr) worker->HangUp();
}

absl::StatusOr<std::unique_ptr<SpawnedRanks>> SpawnedRanks::Start(uint32_t ranks, const SpawnOptions& options) {
  if (ranks == 0 || ranks > SharedMemorySegment::kMaxRanks)
    return absl::InvalidArgumentError(
        absl::StrCat(ranks, " spawned ranks; supported are 1 to ", SharedMemorySegment::kMaxRanks));
  std::unique_ptr<SpawnedRanks> self(new SpawnedRanks(ranks, options));
  if (absl::Status status = self->StartWorkers(); !status.ok()) return status;
  return self;
}

absl::Status SpawnedRanks::StartWorkers() {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    std::unique_ptr<WorkerProcess>& worker = workers_[rank];
    if (worker != nullptr && worker->has_ended()) Drop(rank, absl::UnavailableError(worker->End()));
    if (worker != nullptr) continue;
    absl::StatusOr<std::unique_ptr<WorkerProcess>> spawned = WorkerProcess::Spawn(options_.command);
    if (!spawned.ok()) return OfRank(rank, spawned.status());
    worker = *std::move(spawned);
  }
  return absl::OkStatus();
}

pid_t SpawnedRanks::pid(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  return workers_[rank] == nullptr ? -1 : workers_[rank]->pid();
}

void SpawnedRanks::Drop(uint32_t rank, const absl::Status& cause) {
  for (const auto& weak : segments_)
    if (const auto segment = weak.lock()) segment->Abort(rank, cause);
  workers_[rank].reset();
}

WorkerCommand SpawnedRanks::OpenCommand(uint64_t job, uint32_t rank) const {
  WorkerCommand command;
  command.job = job;
  command.kind = WorkerCommand::Kind::kOpen;
  command.rank = rank;
  command.threads = options_.threads;
  command.comm_thread = static_cast<int32_t>(options_.comm_thread);
  command.deadline_nanoseconds = absl::ToInt64Nanoseconds(options_.deadline);
  command.cores = cores_[rank];
  comm::BuildVersion().copy(command.build, sizeof(command.build) - 1);
  return command;
}

absl::StatusOr<std::unique_ptr<SpawnedJob>> SpawnedRanks::Open(uint64_t window_bytes) {
  auto segment = SharedMemorySegment::Create(size(), window_bytes);
  if (!segment.ok()) return segment.status();
  const std::lock_guard lock(mutex_);
  if (absl::Status status = StartWorkers(); !status.ok()) return status;
  std::erase_if(segments_, [](const auto& weak) { return weak.expired(); });
  segments_.push_back(*segment);
  const uint64_t job = jobs_++;
  Exchange exchange(*this, **segment, options_.grace);
  exchange.BeginDeadline();
  for (uint32_t rank = 0; rank < size(); ++rank) exchange.Send(rank, OpenCommand(job, rank), {});
  if (absl::Status status = launch::OutcomeOfRun(**segment, exchange.Wait()); !status.ok()) {
    Close(job, **segment);
    return status;
  }
  return std::unique_ptr<SpawnedJob>(new SpawnedJob(*this, job, *std::move(segment)));
}

// Freeing memory may take longer than the grace.
void SpawnedRanks::Close(uint64_t job, SharedMemorySegment& segment) {
  WorkerCommand command;
  command.job = job;
  command.kind = WorkerCommand::Kind::kClose;
  Exchange exchange(*this, segment, options_.deadline);
  exchange.BeginDeadline();
  for (uint32_t rank = 0; rank < size(); ++rank) exchange.Send(rank, command, {});
  exchange.Wait();
}

SpawnedJob::~SpawnedJob() {
  const std::lock_guard lock(ranks_.mutex_);
  ranks_.Close(number_, *segment_);
}

absl::Status SpawnedJob::Run(std::string_view request) {
  if (request.size() > kMaxRequestBytes)
    return absl::InvalidArgumentError(absl::StrCat("a request of ", request.size(), " bytes; expected at most ",
                                                   kMaxRequestBytes, "; pass larger data by a file"));
  const std::lock_guard lock(ranks_.mutex_);
  if (absl::Status status = launch::BeginRun(*segment_); !status.ok()) return status;
  WorkerCommand command;
  command.job = number_;
  SpawnedRanks::Exchange exchange(ranks_, *segment_, ranks_.options_.grace);
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank) exchange.Send(rank, command, request);
  outcomes_ = exchange.Wait();
  return launch::OutcomeOfRun(*segment_, outcomes_);
}

}  // namespace sgd::workers
