// Arrivals: each rank counts its own in a flag that peers read; a group waits until all its flags
// have reached a count. All ranks of the job go through the same sequence of arrivals, whatever
// their groups, so one counter per rank serves every group, nothing is ever reset, and equal counts
// with unequal hashes mean that two ranks execute different programs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::comm {

enum class WaitOutcome { kReady, kTimedOut, kAborted, kDifferent, kEnded };

struct WaitResult {
  WaitOutcome outcome = WaitOutcome::kReady;
  uint32_t rank = 0;  // the peer concerned, unless ready or aborted
};

// Belongs to one rank; one thread uses it at a time.
class GroupBarrier {
 public:
  // Counts the arrivals that `arrivals` of RankFlag are.
  GroupBarrier(SharedMemorySegment& segment, uint32_t rank, Arrivals RankFlag::* arrivals = &RankFlag::arrivals);

  // Whether waiting ranks keep their core for a while (default) or give it away at once.
  void set_shares_cores(bool shares_cores) { shares_cores_ = shares_cores; }
  bool shares_cores() const { return shares_cores_; }

  // Says what is executed next: its index for messages, and its hash, which is mixed into that of
  // all before it.
  void Begin(uint32_t index, uint32_t hash);

  // Publishes this rank's next arrival; everything it wrote before is visible to who has seen it.
  // Returns the new count.
  uint32_t Arrive();

  uint32_t count() const { return count_; }

  // Waits until every member has arrived at least `count` times, `count` being at most this rank's
  // own: with less, it has gone on meanwhile.
  // `note` is called every few milliseconds of a long wait.
  WaitResult Wait(absl::Span<const uint32_t> members, uint32_t count, absl::Duration timeout,
                  absl::FunctionRef<void()> note);

  // As Wait, but returns at once: nothing where a member has not arrived yet and may still come.
  std::optional<WaitResult> Look(absl::Span<const uint32_t> members, uint32_t count) const;

  // The collective that the peer says it executes.
  uint32_t CurrentOf(uint32_t peer) const { return ArrivalsOf(peer).current.load(); }

  // Whether the peer has arrived at least `count` times.
  bool HasArrived(uint32_t peer, uint32_t count) const;

 private:
  // `deadline` in steady nanoseconds is set from `timeout` when it is 0 and needed.
  WaitResult WaitForPeer(uint32_t peer, uint32_t count, int64_t* deadline, absl::Duration timeout,
                         absl::FunctionRef<void()> note);
  WaitResult Check(uint32_t peer, uint64_t arrived) const;
  void Sleep(Arrivals& arrivals, uint64_t seen);
  Arrivals& ArrivalsOf(uint32_t rank) const { return segment_.flag(rank).*arrivals_; }

  SharedMemorySegment& segment_;
  Arrivals RankFlag::* arrivals_;
  Arrivals& own_;
  uint32_t rank_;
  uint32_t count_ = 0;
  uint32_t hash_ = 0;
  // Hashes of the latest arrivals, by their counts: what a peer should have said that has not come
  // further.
  static constexpr uint32_t kRemembered = 64;
  std::array<uint32_t, kRemembered> hashes_ = {};
  bool shares_cores_ = false;
};

}  // namespace sgd::comm
