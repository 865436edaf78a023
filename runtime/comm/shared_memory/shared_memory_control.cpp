// Every meeting is: announce, arrive, wait for the others' arrivals; slots are used in turns.
#include "runtime/comm/shared_memory/shared_memory_control.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/wait_note.h"
#include "runtime/thread/thread_state.h"

namespace sgd::comm {
namespace {

constexpr int64_t kSilentNanoseconds = 1'000'000'000;  // ten beats
constexpr absl::Duration kTelling = absl::Seconds(1);  // for a rank to tell what it is at

}  // namespace

SharedMemoryControl::SharedMemoryControl(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank)
    : segment_(std::move(segment)),
      rank_(rank),
      barrier_(*segment_, rank),
      beside_(*this, &RankFlag::beside, SharedMemorySegment::kSlotBeside, WaitKind::kBeside) {
  for (uint32_t peer = 0; peer < segment_->ranks(); ++peer) world_.push_back(peer);
}

absl::StatusOr<std::unique_ptr<SharedMemoryControl>> SharedMemoryControl::Connect(
    std::shared_ptr<SharedMemorySegment> segment, uint32_t rank, absl::Duration timeout, uint32_t core_limit,
    std::vector<uint32_t> job_ranks) {
  if (rank >= segment->ranks()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, " of a job of ", segment->ranks(),
                     " ranks; expected ranks from 0 below that number; correct the launcher's ranks"));
  }
  std::unique_ptr<SharedMemoryControl> control(new SharedMemoryControl(std::move(segment), rank));
  control->job_ranks_ = std::move(job_ranks);
  if (absl::Status status = control->Join(timeout, core_limit); !status.ok()) return status;
  return control;
}

absl::Status SharedMemoryControl::Join(absl::Duration timeout, uint32_t core_limit) {
  RankFlag& flag = segment_->flag(rank_);
  if (flag.state.exchange(RankState::kJoined) != RankState::kAbsent) {
    return absl::FailedPreconditionError(absl::StrCat(
        "rank ", JobRank(rank_), " was started twice; expected each rank once; correct the launcher's ranks"));
  }
  flag.pid.store(getpid());
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof(cpus), &cpus);
  flag.cpus = cpus;
  flag.core_limit.store(core_limit);
  if (absl::Status status = segment_->PopulateWindow(rank_); !status.ok()) return status;
  if (absl::Status status = Barrier(timeout); !status.ok()) return status;
  // The least limit, so that all ranks agree on it.
  for (uint32_t peer : world_) {
    CPU_OR(&cpus, &cpus, &segment_->flag(peer).cpus);
    core_limit = std::min(core_limit, segment_->flag(peer).core_limit.load());
  }
  cores_ = std::clamp<uint32_t>(static_cast<uint32_t>(CPU_COUNT(&cpus)), 1, std::max(1u, core_limit));
  barrier_.set_shares_cores(cores_ < size());
  return absl::OkStatus();
}

absl::Status SharedMemoryControl::CheckNothingUnderWay(const char* what) const {
  if (under_way_ == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(what, ": a collective is in flight"));
}

absl::Status SharedMemoryControl::UseStages(uint32_t stages, absl::Duration timeout) {
  if (absl::Status status = CheckNothingUnderWay("stages"); !status.ok()) return status;
  if (stages == 0 || size() % stages != 0)
    return absl::InvalidArgumentError(absl::StrCat(size(), " ranks are not of ", stages, " stages"));
  if (of_all_) return absl::OkStatus();
  // Behind it nobody reads a staging slot, and counts of different stages are never compared again.
  if (absl::Status status = Barrier(timeout); !status.ok()) return status;
  slot_uses_ = {};
  of_all_.emplace(*this, &RankFlag::of_all, SharedMemorySegment::kSlotOfAll, WaitKind::kCollective);
  return absl::OkStatus();
}

absl::Status SharedMemoryControl::Barrier(absl::Duration timeout) {
  if (absl::Status status = CheckNothingUnderWay(kBarrierName); !status.ok()) return status;
  if (of_all_) return of_all_->Barrier(timeout);
  barrier_.Begin(kBarrierIndex, kBarrierIndex);
  return WaitFor(world_, timeout, kBarrierName, barrier_.Arrive());
}

// Slots are used in turns. The next one is free once its last readers have arrived again, which is
// known when the group has met since.
std::optional<HostWait> SharedMemoryControl::WaitForSlot() const {
  const SlotUse& use = slot_uses_[(last_slot_ + 1) % SharedMemorySegment::kSlots];
  if (use.members == slot_uses_[last_slot_].members) return std::nullopt;
  return HostWait{use.members, use.count};
}

uint32_t SharedMemoryControl::TakeSlot(absl::Span<const uint32_t> members) {
  last_slot_ = (last_slot_ + 1) % SharedMemorySegment::kSlots;
  slot_uses_[last_slot_].members = members;
  return last_slot_;
}

absl::StatusOr<uint32_t> SharedMemoryControl::AcquireSlot(absl::Span<const uint32_t> members, absl::Duration timeout,
                                                          const std::string& description) {
  if (const std::optional<HostWait> wait = WaitForSlot()) {
    absl::Status status = WaitFor(wait->members, timeout, description, wait->count);
    if (!status.ok()) return status;
  }
  return TakeSlot(members);
}

absl::StatusOr<std::vector<std::string>> SharedMemoryControl::AllGatherBytes(std::string_view bytes,
                                                                             absl::Duration timeout) {
  if (absl::Status status = CheckNothingUnderWay(kExchangeName); !status.ok()) return status;
  if (of_all_) return of_all_->AllGatherBytes(bytes, timeout);
  return GatherInChunks(size(), bytes, [&](std::string_view chunk, absl::Span<std::string> parts) {
    return ExchangeChunk(chunk, timeout, parts);
  });
}

absl::Status SharedMemoryControl::ExchangeChunk(std::string_view bytes, absl::Duration timeout,
                                                absl::Span<std::string> parts) {
  barrier_.Begin(kExchangeIndex, kExchangeIndex);
  absl::StatusOr<uint32_t> slot = AcquireSlot(world_, timeout, kExchangeName);
  if (!slot.ok()) return slot.status();
  PutChunk(bytes, segment_->slot(rank_, *slot));
  if (absl::Status status = WaitFor(world_, timeout, kExchangeName, barrier_.Arrive()); !status.ok()) return status;
  for (uint32_t peer : world_) AppendChunk(segment_->slot(peer, *slot), parts[peer]);
  // The slot is free again when all have read it.
  barrier_.Arrive();
  ReleaseSlot(*slot);
  return absl::OkStatus();
}

absl::StatusOr<bool> SharedMemoryControl::BeginStep(uint64_t step, absl::Duration timeout) {
  segment_->flag(rank_).begun.store(step + 1);
  uint64_t stop = segment_->stop();
  if (stop == SharedMemorySegment::kNoStop) return true;
  // Undecided for a few instructions of the rank that decides, unless it has lost its core or its life meanwhile.
  const absl::Time end = SteadyNow() + timeout;
  for (; stop == SharedMemorySegment::kStopUndecided; stop = segment_->stop()) {
    if (absl::Status cause = segment_->abort_cause(); !cause.ok()) return cause;
    if (SteadyNow() > end) {
      return absl::DeadlineExceededError(absl::StrCat(
          "the rank that was asked to stop did not say after which step within ", absl::FormatDuration(timeout)));
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  return step < stop;
}

absl::Status SharedMemoryControl::WaitFor(absl::Span<const uint32_t> members, absl::Duration timeout,
                                          const std::string& description, uint32_t count) {
  return WaitAt(barrier_, members, timeout, description, count, WaitKind::kCollective);
}

absl::StatusOr<bool> SharedMemoryControl::HaveArrived(const HostWait& wait, const std::string& description) {
  const std::optional<WaitResult> result = barrier_.Look(wait.members, wait.count);
  if (!result) return false;
  if (result->outcome == WaitOutcome::kReady) return true;
  return ErrorOf(barrier_, *result, wait.members, wait.count, absl::ZeroDuration(), description);
}

absl::Status SharedMemoryControl::Late(const HostWait& wait, absl::Duration timeout, const std::string& description) {
  const WaitResult late{WaitOutcome::kTimedOut, wait.members.empty() ? rank_ : wait.members[0]};
  return ErrorOf(barrier_, late, wait.members, wait.count, timeout, description);
}

absl::Status SharedMemoryControl::WaitAt(GroupBarrier& barrier, absl::Span<const uint32_t> members,
                                         absl::Duration timeout, const std::string& description, uint32_t count,
                                         WaitKind kind) {
  WaitNote note(*this, kind);
  const WaitResult result =
      barrier.Wait(members, count, timeout, [&] { note.Update(description, MissingFrom(barrier, members, count)); });
  if (result.outcome == WaitOutcome::kReady) return absl::OkStatus();
  return ErrorOf(barrier, result, members, count, timeout, description, kind == WaitKind::kBeside);
}

std::string SharedMemoryControl::NameOf(uint32_t index) const {
  if (index == kBarrierIndex) return kBarrierName;
  if (index == kExchangeIndex) return kExchangeName;
  if (index < names_.size()) return std::string(names_[index]);
  return absl::StrCat("collective #", index);
}

absl::Status SharedMemoryControl::ErrorOf(const GroupBarrier& barrier, const WaitResult& result,
                                          absl::Span<const uint32_t> members, uint32_t count, absl::Duration timeout,
                                          const std::string& description, bool is_beside) {
  switch (result.outcome) {
    case WaitOutcome::kReady:
      return absl::OkStatus();
    case WaitOutcome::kAborted:
      return absl::AbortedError(absl::StrCat(description, " was given up: ", segment_->abort_cause().message()));
    case WaitOutcome::kEnded:
      return absl::FailedPreconditionError(
          absl::StrCat(description, ": rank ", JobRank(result.rank), " has already ended"));
    case WaitOutcome::kDifferent:
      return absl::FailedPreconditionError(absl::StrCat(
          "rank ", JobRank(result.rank), " executes ", NameOf(barrier.CurrentOf(result.rank)),
          " where this rank executes ", description,
          ": their programs differ; expected one artifact and one order of programs; start all ranks alike"));
    case WaitOutcome::kTimedOut:
      break;
  }
  std::vector<uint32_t> missing = MissingFrom(barrier, members, count);
  if (missing.empty()) missing.push_back(JobRank(result.rank));  // it came while this was written
  const RankWait own{description, std::move(missing), is_beside};
  const std::optional<Blame> blame = BlameFor(own);
  if (!segment_->aborted()) return LateError(own, blame, " did not arrive", timeout);
  return absl::AbortedError(absl::StrCat(description, " was given up: ", segment_->abort_cause().message()));
}

std::vector<uint32_t> SharedMemoryControl::MissingOf(const HostWait& wait) const {
  return MissingFrom(barrier_, wait.members, wait.count);
}

std::vector<uint32_t> SharedMemoryControl::MissingFrom(const GroupBarrier& barrier, absl::Span<const uint32_t> members,
                                                       uint32_t count) const {
  std::vector<uint32_t> missing;
  for (uint32_t peer : members) {
    if (peer != rank_ && !barrier.HasArrived(peer, count)) missing.push_back(JobRank(peer));
  }
  return missing;
}

void SharedMemoryControl::NoteWait(WaitKind kind, const std::string& description, absl::Span<const uint32_t> awaited) {
  if (job_ != nullptr) return job_->NoteWait(kind, description, awaited);
  segment_->flag(rank_).waits[static_cast<size_t>(kind)].Write(description, awaited);
}

void SharedMemoryControl::EndWait(WaitKind kind) {
  if (job_ != nullptr) return job_->EndWait(kind);
  segment_->flag(rank_).waits[static_cast<size_t>(kind)].Clear();
}

std::vector<RankReport> SharedMemoryControl::ReadReports(int64_t now, bool with_beside) const {
  std::vector<RankReport> reports(size());
  for (uint32_t rank = 0; rank < size(); ++rank) {
    const RankFlag& flag = segment_->flag(rank);
    const int64_t beat = flag.beat.load();
    reports[rank].answers = rank == rank_ || beat == 0 || now - beat < kSilentNanoseconds;
    for (size_t kind = 0; kind < kWaitKinds; ++kind) {
      if (kind == static_cast<size_t>(WaitKind::kBeside) && !with_beside) continue;
      if (std::optional<RankWait> read = flag.waits[kind].Read()) reports[rank].waits.push_back(*std::move(read));
    }
  }
  return reports;
}

// A rank that has just been stopped still seems to wait: waits are looked at until all have shown that they run, for a
// second at most.
std::optional<Blame> SharedMemoryControl::BlameFor(const RankWait& own) {
  if (job_ != nullptr) return job_->BlameFor(own);
  const int64_t begin = SteadyNanoseconds();
  const auto has_shown = [&](uint32_t rank) {
    const int64_t beat = segment_->flag(rank).beat.load();
    return rank == rank_ || beat == 0 || beat > begin || begin - beat >= kSilentNanoseconds;
  };
  while (SteadyNanoseconds() - begin < kSilentNanoseconds && !std::ranges::all_of(world_, has_shown)) {
    if (segment_->aborted()) return std::nullopt;
    absl::SleepFor(absl::Milliseconds(5));
  }
  Blame blame = FindBlame(rank_, own, ReadReports(SteadyNanoseconds(), own.is_beside));
  AskPlaces(blame);
  return blame;
}

void SharedMemoryControl::AskPlaces(Blame& blame) {
  const size_t asked = std::min(blame.ranks.size(), kToldRanks);
  for (size_t i = 0; i < asked; ++i) segment_->flag(blame.ranks[i]).place.asked.fetch_add(1);
  const absl::Time end = SteadyNow() + kTelling;
  for (size_t i = 0; i < asked; ++i) {
    const std::string place = PlaceOf(blame.ranks[i], end);
    if (!place.empty()) absl::StrAppend(&blame.where, i == 0 ? "" : "; ", place);
  }
}

// A rank that does not run cannot tell; the kernel says why. Threads of this process have no watcher that tells; that
// of another process may have been stopped before its first beat.
std::string SharedMemoryControl::PlaceOf(uint32_t rank, absl::Time end) {
  RankFlag& flag = segment_->flag(rank);
  const pid_t process = flag.pid.load();
  if (flag.beat.load() == 0 && process == getpid()) return "";
  const uint32_t question = flag.place.asked.load();
  const auto is_told = [&] { return static_cast<int32_t>(flag.place.told.load() - question) >= 0; };
  while (!is_told()) {
    const std::optional<ThreadState> state = ReadThreadState(process, process);
    if (state && (IsStopped(*state) || SteadyNow() > end)) {
      const std::string text = ThreadStateText(*state);
      return absl::StrCat("rank ", rank, " (process ", process, ") is ", IsStopped(*state) ? "" : "in ", text);
    }
    if (!state || segment_->aborted()) return "";
    absl::SleepFor(absl::Milliseconds(5));
  }
  const std::optional<std::string> told = flag.place.text.Read();
  return told && !told->empty() ? WhereText(rank, *told) : "";
}

}  // namespace sgd::comm
