// Moves the messages of a rank: all operations that are submitted, whichever of them a thread waits for. A thread that
// waits drives the engine itself; while none does, the engine's own thread drives. docs/decisions/059 says why.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/operation.h"

namespace sgd::comm {

// At most one thread beside the engine's own uses it at a time.
class ProgressEngine {
 public:
  // Borrows the links, which are used under the engine's lock from now on.
  explicit ProgressEngine(HostLinks& links);
  ~ProgressEngine() { Stop(); }
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;

  // Starts the engine's thread. ResourceExhausted where the system gives none.
  absl::Status Start();
  // Stops it; operations move no more.
  void Stop();
  // Whether a thread that finds nothing to move looks again for a while before it sleeps: for threads with a core of
  // their own.
  void set_thread_spins(bool spins);
  void set_waits_spin(bool spins) { waits_spin_ = spins; }

  // For the thread that uses the engine.
  std::unique_lock<std::mutex> Lock();

  // Makes the engine advance an operation, until Remove. Borrows it. Remove waits for its computation.
  void Submit(Operation& operation);
  void Remove(Operation& operation);

  // Calls `change`, if any, under the lock, then advances the operation and leaves the rest to the engine's thread.
  void Kick(Operation& operation, absl::FunctionRef<void()> change);

  // The description and timeout that a failed wait reports.
  struct WaitFor {
    const std::string& description;
    absl::Duration timeout;  // since the operation moved last
    WaitKind kind = WaitKind::kCollective;
  };
  // Drives until `is_done`, which is called under the lock. DeadlineExceeded naming the ranks at fault, once nothing of
  // the operation has moved for the timeout; else ends early as waits of Communicator. Without `limits` the operation
  // notes its own waits and reports its own errors.
  absl::Status Wait(Operation& operation, absl::FunctionRef<bool()> is_done, const WaitFor* limits);

  // For how long anything has been in flight while no thread waited.
  absl::Duration hidden_time();

  // The error of an operation that has not moved since `moved_at`; OK while it is not overdue.
  absl::Status Overdue(const Operation& operation, int64_t moved_at, int64_t now, const WaitFor& limits) const;
  Control& control() const { return links_.control(); }
  absl::Status Failure(const std::string& description) { return links_.Failure(description); }

 private:
  // A thread that sleeps until a message comes or another thread wakes it.
  struct Sleeper {
    UniqueFd wake;  // eventfd
    bool is_asleep = false;
    bool is_woken = false;
  };

  // Advances all operations once, and computes for one of them; whether anything has moved.
  bool Pass(std::unique_lock<std::mutex>& lock);
  // Whether the operation has more to compute.
  bool ComputeFor(Operation& operation, std::unique_lock<std::mutex>& lock);
  void CheckAll(int64_t now);
  bool IsAnyInFlight() const;
  void Sleep(std::unique_lock<std::mutex>& lock, Sleeper& own, int64_t nanoseconds);
  // Gives the core to other threads for a moment; false: that is not worth it, sleep.
  bool Linger(std::unique_lock<std::mutex>& lock, bool spins, int64_t idle, int* yields);
  int64_t SleepLimit(int64_t now, bool is_needed) const;
  void Wake(Sleeper& sleeper);
  void BeginHidden(int64_t now);
  void EndHidden(int64_t now);
  void LeaveToThread();
  bool MayThreadDrive(int64_t now) const;
  void RunThread();

  HostLinks& links_;
  std::mutex mutex_;
  std::atomic<uint32_t> wanted_ = 0;  // threads that wait for the lock
  std::vector<Operation*> operations_;
  Sleeper waiter_, idler_;  // the thread that waits, and the engine's own
  bool thread_spins_ = false, waits_spin_ = false;
  bool is_waited_ = false;    // a thread is in Wait
  int64_t driven_at_ = 0;     // when a thread in Wait or Kick last advanced operations
  int64_t hidden_ = 0;        // nanoseconds
  int64_t hidden_since_ = 0;  // 0: nothing is in flight, or a thread waits
  bool is_parked_ = false;    // the engine's thread leaves driving to another one
  bool is_closing_ = false;
  std::condition_variable may_drive_;  // wakes it then
  std::condition_variable computed_;   // a computation has ended
  std::thread thread_;
};

}  // namespace sgd::comm
