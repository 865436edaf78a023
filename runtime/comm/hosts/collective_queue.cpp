// Steps on memory are computations; between them the head waits for its host or moves messages.
#include "runtime/comm/hosts/collective_queue.h"

#include <utility>

namespace sgd::comm {
namespace {

// A wait for the host looks again after an eighth of the time that it has lasted, so that it is late by as much at
// most.
constexpr int64_t kShortestLook = 20'000, kLongestLook = 1'000'000;

}  // namespace

uint32_t CollectiveQueue::Push(SteppedCollective& collective, absl::Duration timeout) {
  items_[pushed_ % items_.size()] = {&collective, timeout};
  if (!error_.ok()) ++ended_;
  return pushed_++;
}

absl::Status CollectiveQueue::ResultOf(uint32_t ticket) const {
  return static_cast<int32_t>(ticket - first_failed_) >= 0 ? error_ : absl::OkStatus();
}

Advance CollectiveQueue::Step() {
  if (!IsInFlight()) return Advance::kIdle;
  if (!has_begun_ || is_ready_) return Advance::kComputes;
  if (wait_.what == For::kNothing) {
    has_begun_ = false;
    ++ended_;
    return IsInFlight() ? Advance::kComputes : Advance::kMoved;
  }
  if (wait_.what == For::kHost) {
    absl::StatusOr<bool> arrived = control_.HaveArrived(wait_.host, head().collective->description());
    if (!arrived.ok()) Fail(arrived.status());
    is_ready_ = arrived.ok() && *arrived;
    return is_ready_ ? Advance::kComputes : Advance::kIdle;
  }
  const Advance advance = head().collective->messages()->Step();
  if (advance == Advance::kComputes) return advance;
  is_ready_ = head().collective->HaveMessagesEnded();
  return is_ready_ ? Advance::kComputes : advance;
}

void CollectiveQueue::Compute() {
  SteppedCollective& collective = *head().collective;
  if (has_begun_ && !is_ready_) return collective.messages()->Compute();
  wait_ = has_begun_ ? collective.Continue() : collective.Begin();
  has_begun_ = true;
  is_ready_ = false;
}

void CollectiveQueue::AppendAwaited(AwaitedPeers* awaited) const {
  if (!IsInFlight() || !has_begun_ || wait_.what != For::kMessages) return;
  std::as_const(*head().collective->messages()).AppendAwaited(awaited);
}

absl::Status CollectiveQueue::ErrorOfHead(int64_t now) const {
  const std::string& description = head().collective->description();
  if (absl::Status failure = engine_.Failure(description); !failure.ok()) return failure;
  if (!has_begun_ || is_ready_) return absl::OkStatus();
  if (wait_.what == For::kMessages)
    return engine_.Overdue(*this, moved_at(), now, {.description = description, .timeout = head().timeout});
  if (wait_.what == For::kHost && now - moved_at() > absl::ToInt64Nanoseconds(head().timeout))
    return control_.Late(wait_.host, head().timeout, description);
  return absl::OkStatus();
}

// Publishes the wait of the head to other ranks.
void CollectiveQueue::NoteHead(int64_t now) {
  const bool waits = IsInFlight() && has_begun_ && !is_ready_ && wait_.what != For::kNothing;
  if (!waits || now - moved_at() < kNoteAfterNanoseconds) {
    if (std::exchange(is_noted_, false)) engine_.control().EndWait(WaitKind::kCollective);
    return;
  }
  AwaitedPeers awaited;
  AppendAwaited(&awaited);
  is_noted_ = true;
  engine_.control().NoteWait(WaitKind::kCollective, head().collective->description(),
                             wait_.what == For::kHost ? control_.MissingOf(wait_.host) : awaited.All());
}

void CollectiveQueue::Check(int64_t now) {
  NoteHead(now);
  if (!IsInFlight()) return;
  if (absl::Status error = ErrorOfHead(now); !error.ok()) Fail(std::move(error));
}

void CollectiveQueue::Fail(absl::Status error) {
  error_ = std::move(error);
  first_failed_ = ended_;
  ended_ = pushed_;
}

int64_t CollectiveQueue::SleepLimit(int64_t now) const {
  if (!IsInFlight() || !has_begun_ || is_ready_ || wait_.what != For::kHost) return kNoLimit;
  return std::clamp((now - moved_at()) / 8, kShortestLook, kLongestLook);
}

}  // namespace sgd::comm
