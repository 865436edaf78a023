// Waiting in three stages: spin, yield, sleep on the peer's futex in slices short enough to notice
// an abort and the deadline.
#include "runtime/comm/shared_memory/group_barrier.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>

#include "runtime/comm/shared_memory/spin.h"

namespace sgd::comm {
namespace {

static_assert(std::endian::native == std::endian::little, "the futex is the flag's low half");
static_assert(std::atomic<uint64_t>::is_always_lock_free);

uint32_t Count(uint64_t arrived) { return static_cast<uint32_t>(arrived); }
uint32_t Hash(uint64_t arrived) { return static_cast<uint32_t>(arrived >> 32); }

// Counts wrap around; ranks are never 2^31 arrivals apart.
bool Reached(uint64_t arrived, uint32_t count) { return static_cast<int32_t>(Count(arrived) - count) >= 0; }

}  // namespace

GroupBarrier::GroupBarrier(SharedMemorySegment& segment, uint32_t rank, Arrivals RankFlag::* arrivals)
    : segment_(segment), arrivals_(arrivals), own_(ArrivalsOf(rank)), rank_(rank) {}

void GroupBarrier::Begin(uint32_t index, uint32_t hash) {
  own_.current.store(index, std::memory_order_relaxed);
  hash_ = std::rotl(hash_, 5) * 0x9e3779b1u ^ hash;
}

uint32_t GroupBarrier::Arrive() {
  ++count_;
  hashes_[count_ % kRemembered] = hash_;
  // Sequentially consistent, as is the sleeper's announcement: one of the two sees the other.
  own_.arrived.store(uint64_t{hash_} << 32 | count_);
  if (own_.sleepers.load() != 0) {
    syscall(SYS_futex, &own_.arrived, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  return count_;
}

bool GroupBarrier::HasArrived(uint32_t peer, uint32_t count) const {
  return Reached(ArrivalsOf(peer).arrived.load(std::memory_order_acquire), count);
}

// A peer that is further than this rank compares the hashes itself.
WaitResult GroupBarrier::Check(uint32_t peer, uint64_t arrived) const {
  const bool comparable = count_ - Count(arrived) < kRemembered;
  if (comparable && Hash(arrived) != hashes_[Count(arrived) % kRemembered]) return {WaitOutcome::kDifferent, peer};
  return {WaitOutcome::kReady, peer};
}

WaitResult GroupBarrier::Wait(absl::Span<const uint32_t> members, uint32_t count, absl::Duration timeout,
                              absl::FunctionRef<void()> note) {
  int64_t deadline = 0;
  for (uint32_t peer : members) {
    if (peer == rank_) continue;
    const uint64_t arrived = ArrivalsOf(peer).arrived.load(std::memory_order_acquire);
    const WaitResult result =
        Reached(arrived, count) ? Check(peer, arrived) : WaitForPeer(peer, count, &deadline, timeout, note);
    if (result.outcome != WaitOutcome::kReady) return result;
  }
  return {};
}

std::optional<WaitResult> GroupBarrier::Look(absl::Span<const uint32_t> members, uint32_t count) const {
  for (uint32_t peer : members) {
    if (peer == rank_) continue;
    // The state is read first: a peer that is done has made all its arrivals.
    const bool ended = segment_.flag(peer).state.load() == RankState::kDone;
    const uint64_t arrived = ArrivalsOf(peer).arrived.load(std::memory_order_acquire);
    if (Reached(arrived, count)) {
      const WaitResult result = Check(peer, arrived);
      if (result.outcome != WaitOutcome::kReady) return result;
      continue;
    }
    if (segment_.aborted()) return WaitResult{WaitOutcome::kAborted, peer};
    if (ended) return WaitResult{WaitOutcome::kEnded, peer};
    return std::nullopt;
  }
  return WaitResult{};
}

WaitResult GroupBarrier::WaitForPeer(uint32_t peer, uint32_t count, int64_t* deadline, absl::Duration timeout,
                                     absl::FunctionRef<void()> note) {
  Arrivals& arrivals = ArrivalsOf(peer);
  const int spins = shares_cores_ ? kSpinsWhenShared : kSpins;
  for (int i = 0; i < spins + kYields; ++i) {
    const uint64_t arrived = arrivals.arrived.load(std::memory_order_acquire);
    if (Reached(arrived, count)) return Check(peer, arrived);
    if (i < spins) {
      Pause();
    } else {
      sched_yield();
    }
  }
  if (*deadline == 0) {
    const int64_t now = SteadyNanoseconds();
    *deadline = now + std::min(absl::ToInt64Nanoseconds(timeout), INT64_MAX - now);
  }
  for (bool is_long = false; true; is_long = true) {
    if (is_long) note();
    // The state is read first: a peer that is done has made all its arrivals.
    const bool ended = segment_.flag(peer).state.load() == RankState::kDone;
    const uint64_t arrived = arrivals.arrived.load();
    if (Reached(arrived, count)) return Check(peer, arrived);
    if (segment_.aborted()) return {WaitOutcome::kAborted, peer};
    if (ended) return {WaitOutcome::kEnded, peer};
    if (SteadyNanoseconds() >= *deadline) return {WaitOutcome::kTimedOut, peer};
    Sleep(arrivals, arrived);
  }
}

void GroupBarrier::Sleep(Arrivals& arrivals, uint64_t seen) {
  arrivals.sleepers.fetch_add(1);
  if (arrivals.arrived.load() == seen) {
    const timespec slice = {0, kSleepNanoseconds};
    syscall(SYS_futex, &arrivals.arrived, FUTEX_WAIT, Count(seen), &slice, nullptr, 0);
  }
  arrivals.sleepers.fetch_sub(1);
}

}  // namespace sgd::comm
