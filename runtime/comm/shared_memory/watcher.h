// A thread in each rank's process that notices the death of a peer, also while the main thread
// computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::comm {

struct WatcherOptions {
  // How long a supervisor, which knows how a rank ended, has to report its death before this
  // watcher does.
  absl::Duration report_delay = absl::ZeroDuration();
  // How long the main thread has to end by itself after a peer's death or another abort.
  absl::Duration grace = absl::Milliseconds(25);
  // Called once when it has not, with the first cause of the job.
  std::function<void(const absl::Status& cause)> give_up;
  // Describes this rank's instruction to peers that ask (RankFlag::place); takes at most half a second. May be empty.
  std::function<std::string()> where = nullptr;
};

// Watches the processes of all other ranks. The end of one that has not announced to be done
// (RankState::kDone) aborts the job with that rank as the cause, unless the job is aborted already,
// which wakes this rank if it waits; then, after the grace, gives up. A watcher that ends after an
// abort continues (SIGCONT) peers that were stopped, so that their own watchers can end them. Needs
// Linux 5.4 (pidfd). Ranks must be processes, and their pids in the segment.
// Its thread also shows the others that this process runs (RankFlag::beat), and tells them what the rank is at.
class Watcher {
 public:
  static absl::StatusOr<std::unique_ptr<Watcher>> Start(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank,
                                                        WatcherOptions options);

  // Stops watching: from now on the caller sees to it that the process ends.
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  struct Peer {
    uint32_t rank;
    UniqueFd process;
  };

  Watcher(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank, WatcherOptions options);
  absl::Status Open();
  void Run();
  // Index of a peer whose process has ended, -1 for none yet, or nothing when the watcher is to
  // stop.
  std::optional<int> WaitForEnd();
  bool HandleEnd(const Peer& peer);
  void TellPlace();
  void WaitAndGiveUp();
  void ContinuePeers();

  std::shared_ptr<SharedMemorySegment> segment_;
  uint32_t rank_;
  WatcherOptions options_;
  UniqueFd stop_;  // eventfd
  std::vector<Peer> peers_;
  std::thread thread_;
};

// "killed by signal 9 (Killed)" or "left with exit code 3", of a wait status.
std::string DescribeExit(int wait_status);

}  // namespace sgd::comm
