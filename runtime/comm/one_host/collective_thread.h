// A thread that runs collectives one after another beside the caller's compute. It sleeps on a futex
// while there is nothing to do.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sgd::comm {

// One other thread enqueues and waits. Its writes before Enqueue are visible to the collective, and
// the collective's writes are visible after Wait.
class CollectiveThread {
 public:
  // Runs collective `index` to its end; must end by itself when the job is aborted.
  using Run = std::function<absl::Status(uint32_t index, absl::Duration timeout)>;

  // The thread may run wherever the calling one may. `has_own_core`: both sides spin for a while
  // before they sleep, else they give their core away at once. ResourceExhausted where the system gives no thread.
  static absl::StatusOr<std::unique_ptr<CollectiveThread>> Start(Run run, bool has_own_core);
  // Waits for what is enqueued.
  ~CollectiveThread();
  CollectiveThread(const CollectiveThread&) = delete;
  CollectiveThread& operator=(const CollectiveThread&) = delete;

  // Hands a collective over and returns its ticket. Waits only when
  // kCapacity others are unfinished.
  uint32_t Enqueue(uint32_t index, absl::Duration timeout);

  // Returns when that collective has ended. After an error none runs any more: it is the result of
  // all that follow.
  absl::Status Wait(uint32_t ticket);

  static constexpr uint32_t kCapacity = 64;

 private:
  struct Item {
    uint32_t index = 0;
    absl::Duration timeout;
  };

  CollectiveThread(Run run, bool has_own_core);
  void Work();

  Run run_;
  int64_t spin_nanoseconds_;
  std::array<Item, kCapacity> items_;
  // Tickets given out and ended so far; they wrap around.
  alignas(64) std::atomic<uint32_t> enqueued_ = 0;
  std::atomic<bool> stopping_ = false;
  alignas(64) std::atomic<uint32_t> ended_ = 0;
  // The first error and its ticket, written once, before has_failed_.
  absl::Status error_;
  uint32_t first_failed_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::thread thread_;
};

}  // namespace sgd::comm
