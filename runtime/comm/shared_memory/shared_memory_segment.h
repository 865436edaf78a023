// The memory that the ranks of one host share: a control block, small staging slots and a window
// per rank. It is an anonymous memfd: it has no name and disappears with its last user, however
// that ends.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/comm/shared_memory/shared_bytes.h"
#include "runtime/comm/shared_memory/shared_wait.h"

namespace sgd::comm {

enum class RankState : uint32_t { kAbsent, kJoined, kDone };

// A rank's arrivals as the others see them, alone on their cache lines. Only the rank writes them (`sleepers`
// excepted).
struct alignas(128) Arrivals {
  // Low half: number of arrivals so far, modulo 2^32, and the futex that sleepers wait on. High
  // half: hash of all that was executed up to this arrival.
  std::atomic<uint64_t> arrived;
  std::atomic<uint32_t> sleepers;  // how many ranks may be sleeping on `arrived`
  std::atomic<uint32_t> current;   // index of the collective in execution
};

// The place of a rank in its program, told to peers that ask.
struct AskedPlace {
  std::atomic<uint32_t> asked;  // how often so far; by peers
  std::atomic<uint32_t> told;   // the number of the newest question that `text` answers
  SharedBytes text;
};

// A rank's state as the others see it. Only its rank writes it.
struct alignas(128) RankFlag {
  Arrivals arrivals;  // at collectives, and where the whole job meets; with stages, of its own stage alone
  Arrivals of_all;    // with stages: where the whole job meets
  Arrivals beside;    // of a thread beside the steps: where the whole job meets
  std::atomic<RankState> state;
  std::atomic<int32_t> pid;
  cpu_set_t cpus;                            // where the rank may run; valid once joined
  std::atomic<uint32_t> core_limit;          // how many cores' time the job may use, as far as this rank knows
  std::atomic<uint64_t> begun;               // how many steps of the job it has begun
  std::atomic<int64_t> beat;                 // when its watcher last ran, in steady nanoseconds; 0 without a watcher
  std::array<SharedWait, kWaitKinds> waits;  // of this rank, for ranks of the segment
  std::array<SharedBytes, Control::kBoards> published;  // see Control::Publish
  AskedPlace place;
};

class SharedMemorySegment {
 public:
  static constexpr uint64_t kSlotBytes = 8192;
  static constexpr uint32_t kSlots = 2;           // for collectives, and where the whole job meets
  static constexpr uint32_t kSlotOfAll = kSlots;  // with stages: where the whole job meets
  static constexpr uint32_t kSlotBeside = kSlots + 1;
  static constexpr uint32_t kAllSlots = kSlots + 2;
  static constexpr uint32_t kMaxRanks = SharedWait::kMaxRanks;

  // A zeroed segment for `ranks` ranks with windows of `window_bytes` each. Pages are allocated on first
  // touch.
  static absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Create(uint32_t ranks, uint64_t window_bytes);
  // Maps a segment made by Create in this or another process; refuses anything else.
  static absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Attach(UniqueFd fd);

  ~SharedMemorySegment();
  SharedMemorySegment(const SharedMemorySegment&) = delete;
  SharedMemorySegment& operator=(const SharedMemorySegment&) = delete;

  int fd() const { return fd_.get(); }
  uint32_t ranks() const { return ranks_; }
  uint64_t window_bytes() const { return window_bytes_; }

  RankFlag& flag(uint32_t rank) { return flags_[rank]; }
  std::byte* slot(uint32_t rank, uint32_t index) { return slots_ + (uint64_t{rank} * kAllSlots + index) * kSlotBytes; }
  std::byte* window(uint32_t rank) { return windows_ + rank * window_stride_; }

  // Takes the pages of this rank's own window before they are needed, huge ones for large windows where there are
  // any. kResourceExhausted when there
  // is not enough memory, which would otherwise show as a signal at the first touch.
  absl::Status PopulateWindow(uint32_t rank);
  // Maps pages of a peer's window, which has been populated, before they are needed. Also for
  // writing: shared memory is not write-protected after a read fault.
  void MapWindow(uint32_t rank, uint64_t offset, uint64_t bytes);

  // A stop that all ranks agree on without waiting for each other. Whoever asks first announces it, and only then reads
  // how many steps each rank has begun: a rank that has begun one more since has seen the announcement before it began,
  // and waits for the number, which is the largest of them. Asking again changes nothing but second_stop_signal().
  void RequestStop(int signal);
  static constexpr uint64_t kNoStop = ~uint64_t{0};
  static constexpr uint64_t kStopUndecided = kNoStop - 1;
  // How many steps the ranks are to do in all. A rank asks after it has stored RankFlag::begun, both in the order that
  // all ranks see alike.
  uint64_t stop() const;
  int stop_signal() const;  // 0 without a stop
  // The first signal that asked after this one and differs from it; 0 without.
  int second_stop_signal() const;

  // See Control::MarkStateKept.
  void MarkStateKept();
  bool is_state_kept() const;

  // Keeps the first cause only; returns whether this was it. `rank` is the one at fault, which may be kNoRank. Wakes
  // every sleeper.
  bool Abort(uint32_t rank, const absl::Status& cause);
  static constexpr uint32_t kNoRank = ~uint32_t{0};
  bool aborted() const;
  // "rank R: cause", or without a rank the cause alone, with the cause's code. OK when not aborted.
  absl::Status abort_cause() const;
  // The rank at fault; nothing when not aborted, or when none is.
  std::optional<uint32_t> abort_rank() const;
  // The rank that prints the cause for all ranks: the first that asks.
  uint32_t ClaimCause(uint32_t rank);

 private:
  struct Header;
  SharedMemorySegment() = default;
  absl::Status Map();
  void CollapseWindow(uint32_t rank);

  UniqueFd fd_;
  std::byte* base_ = nullptr;
  uint64_t mapped_bytes_ = 0;
  Header* header_ = nullptr;
  RankFlag* flags_ = nullptr;
  std::byte* slots_ = nullptr;
  std::byte* windows_ = nullptr;
  uint32_t ranks_ = 0;
  uint64_t window_bytes_ = 0;
  uint64_t window_stride_ = 0;
};

}  // namespace sgd::comm
