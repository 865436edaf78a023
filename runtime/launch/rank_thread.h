// The thread of a resident rank: bound to its cores, it runs one function after the other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::launch {

class RankThread {
 public:
  // `cores` may be empty: those of the calling thread. ResourceExhausted without a thread.
  static absl::StatusOr<std::unique_ptr<RankThread>> Start(uint32_t rank, const std::vector<int>& cores);
  // Waits for the function that runs.
  ~RankThread();
  RankThread(const RankThread&) = delete;
  RankThread& operator=(const RankThread&) = delete;

  using Body = std::function<absl::Status()>;
  using Report = std::function<void(absl::Status outcome)>;

  // Runs `body`, destroys it, and reports its outcome, all on the thread, which has nothing else to run. The thread
  // keeps nothing of either: the outcome is the receiver's alone.
  void Run(Body body, Report report);
  // Whether nothing runs.
  bool is_idle();

 private:
  RankThread() = default;
  void Serve();

  std::mutex mutex_;
  std::condition_variable wakes_;
  Body body_;
  Report report_;  // null: nothing runs
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sgd::launch
